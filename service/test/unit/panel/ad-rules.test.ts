import { readFileSync } from 'node:fs';
import { describeAdRule } from '@trueward/protocol/describe-ad-rule';
import type { AdLimit, Decision } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { describeAnswer } from '../../../panel/src/ad-rules/describe-answer.ts';
import { readSession } from '../../../panel/src/ad-rules/read-session.ts';
import { recommendedRules, toAdRule } from '../../../panel/src/ad-rules/to-ad-rule.ts';

const interstitial = { formats: ['interstitial'] } satisfies Partial<AdLimit>;
test.each<[Partial<AdLimit>, string]>([
  [{}, 'Choose formats and at least one limit.'],
  [interstitial, 'Choose formats and at least one limit.'],
  [{ gap_s: 60 }, 'Choose formats and at least one limit.'],
  [
    { ...interstitial, first_after_s: 60, gap_s: 120 },
    'No interstitial in a session’s first 1 minute; at least 2 minutes between interstitials.',
  ],
  [{ ...interstitial, first_after_s: 90 }, 'No interstitial in a session’s first 90 seconds.'],
  [{ ...interstitial, first_after_s: 1 }, 'No interstitial in a session’s first 1 second.'],
  [{ ...interstitial, gap_s: 3_600 }, 'At least 1 hour between interstitials.'],
  [{ ...interstitial, gap_s: 7_200 }, 'At least 2 hours between interstitials.'],
  [
    { ...interstitial, gap_s: 60, gap_after: ['rewarded'] },
    'At least 1 minute after a rewarded ad, before the next interstitial.',
  ],
  [
    { formats: ['interstitial', 'banner'], gap_s: 60, gap_after: ['rewarded', 'interstitial'] },
    'At least 1 minute after a rewarded ad or an interstitial, before the next interstitial or banner.',
  ],
  [
    { ...interstitial, max_per_session: 6, max_per_hour: 1, max_per_day: 20 },
    'At most 6 interstitials a session; at most 1 interstitial an hour; at most 20 interstitials a day.',
  ],
  [
    { formats: ['rewarded', 'interstitial', 'banner'], max_per_day: 2 },
    'At most 2 rewarded ads, interstitials and banners a day.',
  ],
  [
    { ...interstitial, gap_s: 45, placements: ['level-end', 'shop'], segments: ['new', 'back'] },
    'In level-end and shop: at least 45 seconds between interstitials (only for players in the segment new or back).',
  ],
  [
    { formats: ['interstitial', 'banner'], ad_free_with: 'no_ads' },
    'No interstitial or banner while the player has no_ads in the wallet.',
  ],
])('describes the rule %j', (rule, sentence) => {
  expect(describeAdRule(rule)).toBe(sentence);
});

test('the recommended rules keep a minute at the start, two between ads, and one after a rewarded ad', () => {
  expect(recommendedRules.map(describeAdRule)).toEqual([
    'No interstitial in a session’s first 1 minute; at least 2 minutes between interstitials.',
    'At least 1 minute after a rewarded ad, before the next interstitial.',
  ]);
});

test('the docs page recommends the same rules in the same words, and its session can be pasted', () => {
  const page = readFileSync('docs/ad-rules.md', 'utf8');
  const rows = [...page.matchAll(/^\| (\S.*?\.) +\| `(\{.*\})` +\|$/gm)].map(([, text, json]) => [
    text?.replaceAll("'", '’'),
    JSON.parse(json ?? '') as unknown,
  ]);
  expect(rows).toEqual(recommendedRules.map((rule) => [describeAdRule(rule), rule]));
  const [, session = ''] = /Paste a session.*?```json\n(.*?)```/s.exec(page) ?? [];
  expect(readSession(session, 'shop')).toEqual(JSON.parse(session));
});

test('an edited form becomes a rule without what was cleared', () => {
  const values = { ...interstitial, gap_s: 60, max_per_day: null, placements: [], etag: '"1"' };
  expect(toAdRule(values)).toEqual({ ...interstitial, gap_s: 60 });
});

test.each<[string, unknown]>([
  ['', undefined],
  [' \n', undefined],
  ['{"age_s": 95}', { age_s: 95, ads: [] }],
  // The body of an ad request, as copied from the network log.
  ['{"placement": "a", "session": {"age_s": 5, "rules_version": "x"}}', { age_s: 5, ads: [] }],
  [
    '{"age_s": 95, "ads": [{"format": "rewarded", "ago_s": 20}, {"id": "dec_x", "placement": "a"}]}',
    {
      age_s: 95,
      ads: [
        { id: `dec_${'0'.repeat(26)}`, placement: 'shop', format: 'rewarded', ago_s: 20 },
        { id: 'dec_x', placement: 'a' },
      ],
    },
  ],
  ...['{', 'null', '7', '[]', '{}', '{"age_s": "95"}', '{"session": null}'].map(
    (text): [string, RegExp] => [text, /Paste the session/],
  ),
  ...['7', '{}', '[7]', '[null]'].map((ads): [string, RegExp] => [
    `{"age_s": 1, "ads": ${ads}}`,
    /list of ads/,
  ]),
])('reads the pasted session “%s”', (text, session) => {
  const result = readSession(text, 'shop');
  if (session instanceof RegExp) expect(result).toMatch(session);
  else expect(result).toEqual(session);
});

const explain = [{ name: 'A rule.' }];
test.each<[Partial<Decision>, object | undefined]>([
  [{ status: 'filled' }, { isShown: true, text: 'The next interstitial ad would be shown now.' }],
  [
    { reason: 'frequency_capped', retry_at: '2026-06-01T12:00:39.001Z' },
    {
      isShown: false,
      text: 'The next interstitial ad would be shown 40 seconds later. Held back by: A rule.',
    },
  ],
  [
    { reason: 'frequency_capped', retry_at: '2026-06-01T12:00:00.500Z' },
    {
      isShown: false,
      text: 'The next interstitial ad would be shown 1 second later. Held back by: A rule.',
    },
  ],
  [
    { reason: 'frequency_capped' },
    {
      isShown: false,
      text: 'The next interstitial ad would not be shown in this session. Held back by: A rule.',
    },
  ],
  [{ reason: 'ad_free' }, { isShown: false, text: 'This player sees no interstitial ads.' }],
  [{ reason: 'paused' }, undefined],
])('the trial %j says whether the next ad would be shown', (result, answer) => {
  const decision = {
    id: 'dec_1',
    status: 'no_fill',
    placement: 'level-end',
    format: 'interstitial',
    issued_at: '2026-06-01T12:00:00.000Z',
    expires_at: '2026-06-01T12:10:00.000Z',
    ...result,
  } satisfies Decision;
  expect(describeAnswer(decision, explain)).toEqual(answer);
});
