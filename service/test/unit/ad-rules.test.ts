import type { AdRule, AdRuleRequest } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import {
  type AdRules,
  compileAdRules,
  findHold,
  findNextTimes,
  findRuleEnds,
  joinVisit,
  type SeenAd,
  type Visit,
} from '../../src/decision/ad-rules.ts';
import { decide } from '../../src/decision/decide.ts';
import { type AnyResource, compileSnapshot } from '../../src/decision/snapshot.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { createAdResources, createPlacement, createPolicy } from './fixtures.ts';

// The properties of rules are tested in test/property/ad-rules.test.ts. These are the cases that random sessions don't meet.

const nowMs = Date.parse('2026-06-01T12:00:00.000Z');
const createRule = (index: number, rule: AdRuleRequest): AdRule => ({
  id: `adr_${index}`,
  environment: 'live',
  created_at: '',
  updated_at: '',
  enabled: true,
  ...rule,
});
const createRules = (...rules: AdRuleRequest[]): AdRule[] =>
  rules.map((rule, index) => createRule(index, rule));
const seen = (secondsAgo: number, format: SeenAd['format'] = 'interstitial'): SeenAd => ({
  id: firstIdAt('decision', nowMs - secondsAgo * 1_000),
  format,
  placement: 'level-end',
  atMs: nowMs - secondsAgo * 1_000,
});

/** Returns what holds a player's next ad back. */
const hold = (rules: readonly AdRule[], visit: Visit, segments: string[] = []) =>
  findHold(rules, findRuleEnds(rules, visit, segments), nowMs);
const nextTimes = (rules: AdRules, visit: Visit) =>
  findNextTimes(rules, findRuleEnds(rules.enabled, visit, []), nowMs);

test('the version that clients compare changes with the rules, and not with what clients don’t know', () => {
  const version = (...rules: AdRuleRequest[]) =>
    compileAdRules(createRules(...rules)).limits.version;
  const rule: AdRuleRequest = { formats: ['interstitial'], gap_s: 60 };
  const versions = [
    version(),
    version(rule),
    version({ ...rule, gap_s: 61 }),
    version(rule, { ...rule, gap_s: 61 }),
  ];
  expect(new Set(versions).size).toBe(4);
  expect(versions[0]).toBe('');
  expect(version(rule, { ...rule, enabled: false })).toBe(versions[1]);
  const renamed = createRules(rule).map((one) => ({ ...one, id: 'adr_9', updated_at: 'later' }));
  expect(compileAdRules(renamed).limits.version).toBe(versions[1]);
});

test('only as much of a player’s record is read as the rules count', () => {
  const record = (...rules: AdRuleRequest[]) => compileAdRules(createRules(...rules)).record;
  const formats: AdRuleRequest['formats'] = ['interstitial'];
  expect([
    record(),
    record({ formats, first_after_s: 60 }),
    record({ formats, ad_free_with: 'no_ads' }),
    record({ formats, gap_s: 60 }),
    record({ formats, gap_s: 60, gap_after: ['rewarded'] }, { formats, max_per_hour: 2 }),
    record({ formats, max_per_session: 2 }),
    record({ formats, max_per_day: 2, enabled: false }),
  ]).toEqual([
    undefined,
    undefined,
    undefined,
    { formats, windowMs: 60_000 },
    { formats: ['interstitial', 'rewarded'], windowMs: 3_600_000 },
    { formats, windowMs: 86_400_000 },
    undefined,
  ]);
});

test('an ad counts from its impression, and never before it was decided', () => {
  const { id } = seen(10);
  const claim = { id, format: 'interstitial' as const, placement: 'level-end', ago_s: 80_000 };
  const { ads } = joinVisit('interstitial', { age_s: 60, ads: [claim] }, [], nowMs);
  expect(ads).toEqual([seen(10)]);
});

test.each([
  [0, 10],
  [10, 10],
  [12, 12],
  [15, 15],
  [500, 15],
])(
  'of a recorded ad, which was seen 10 s ago, a device may say %s s, and %s s count',
  (agoS, countedS) => {
    // It was decided long before.
    const { id } = seen(600);
    const recorded = { ...seen(10, 'rewarded'), id };
    const claim = { id, format: 'banner' as const, placement: 'lobby', ago_s: agoS };
    const { ads } = joinVisit('rewarded', { age_s: 900, ads: [claim] }, [recorded], nowMs);
    expect(ads).toEqual([{ ...recorded, atMs: nowMs - countedS * 1_000 }]);
  },
);

test('a session’s end has no time, and a rule for some placements none that is for all', () => {
  const rules = compileAdRules(
    createRules(
      { formats: ['interstitial'], max_per_session: 1 },
      { formats: ['rewarded'], placements: ['level-end'], gap_s: 60 },
      { formats: ['banner'], gap_s: 60 },
    ),
  );
  const ads = [seen(10), seen(20, 'rewarded'), seen(30, 'banner')];
  const visit = joinVisit('interstitial', { age_s: 60 }, ads, nowMs);
  expect(hold(rules.general.interstitial, visit)?.endMs).toBe(Infinity);
  expect([...nextTimes(rules, visit)]).toEqual([['banner', nowMs + 30_000]]);
});

test.each([
  [30, 90],
  [90, 30],
])(
  'a rule for any format (%s s) and one for interstitials (%s s) both apply, in any order',
  (anyGapS, ownGapS) => {
    const given: AdRuleRequest[] = [
      { formats: ['rewarded', 'interstitial', 'banner'], gap_s: anyGapS },
      { formats: ['interstitial'], gap_s: ownGapS },
    ];
    for (const order of [given, given.toReversed()]) {
      const rules = compileAdRules(createRules(...order));
      const visit = joinVisit('interstitial', { age_s: 60 }, [seen(10)], nowMs);
      expect(hold(rules.general.interstitial, visit)).toMatchObject({
        rule: { gap_s: 90 },
        endMs: nowMs + 80_000,
      });
      const times = nextTimes(rules, visit);
      expect([times.get('interstitial'), times.get('banner')]).toEqual([
        nowMs + 80_000,
        nowMs + (anyGapS - 10) * 1_000,
      ]);
    }
  },
);

test.each<[SeenAd['format'], number, number | undefined]>([
  ['interstitial', 0, 60_000],
  ['interstitial', 59.5, 500],
  ['interstitial', 60, undefined],
  ['banner', 20, 40_000],
])('for a %s, a session that is %s s old has to wait for %s ms', (format, ageS, waitMs) => {
  const rules = createRules({ formats: ['interstitial', 'banner'], first_after_s: 60 });
  // A rewarded ad in between changes nothing.
  for (const ads of [[], [seen(0, 'rewarded')]]) {
    const visit = joinVisit(format, { age_s: ageS }, ads, nowMs);
    const endMs = hold(rules, visit)?.endMs;
    expect(endMs === undefined ? endMs : endMs - nowMs).toBe(waitMs);
  }
});

test.each<[string[], boolean]>([
  [[], false],
  [['old'], false],
  [['new'], true],
  [['old', 'back'], true],
])('a rule for two segments holds a player with the segments %j: %s', (segments, isHeld) => {
  const rules = createRules({ formats: ['banner'], segments: ['new', 'back'], gap_s: 60 });
  const visit = joinVisit('banner', { age_s: 60 }, [seen(10, 'banner')], nowMs);
  expect(hold(rules, visit, segments) !== undefined).toBe(isHeld);
});

test('a record that is too long to read holds every ad back', () => {
  const rules = createRules({ formats: ['rewarded'], max_per_hour: 100 });
  const ads = Array.from({ length: 1_000 }, (_, index) => seen(4_000 + index, 'banner'));
  const visit = joinVisit('rewarded', undefined, ads, nowMs);
  expect(hold(rules, visit)?.endMs).toBe(nowMs + 86_400_000 - 4_999_000);
  expect(hold(rules, { ...visit, ads: ads.slice(1) })).toBeUndefined();
});

const decideWith = (rules: AdRule[], others: AnyResource[] = []) => {
  const snapshot = compileSnapshot([
    { kind: 'placement', document: createPlacement() },
    ...createAdResources('a'),
    ...rules.map((document) => ({ kind: 'adRule' as const, document })),
    ...others,
  ]);
  const entry = snapshot.placements.get('revive');
  if (!entry) throw new Error('The placement is missing.');
  return decide({
    snapshot,
    entry,
    request: { placement: 'revive' },
    context: { childDirected: false, hour: 12 },
    servedAtMs: [],
    pageAdsAtMs: [],
    ruleEnds: findRuleEnds(
      snapshot.adRules.enabled,
      { startedAtMs: nowMs, ads: [seen(10, 'rewarded')] },
      [],
    ),
    adFree: [],
    dailyBudgets: new Map(),
    nowMs,
    random: 0,
  });
};

test('of rules that end at the same time, the oldest is named; what blocks the request comes first', () => {
  const [first, second] = createRules(
    { formats: ['rewarded'], gap_s: 60 },
    { formats: ['rewarded'], gap_s: 60, gap_after: ['rewarded'] },
  ) as [AdRule, AdRule];
  const held = decideWith([second, first]);
  expect(held).toMatchObject({ reason: 'frequency_capped', retryAtMs: nowMs + 50_000 });
  expect(held.explain).toMatchObject([{ ad_rule_id: first.id }]);
  const everything = createPolicy({ block: { everything: true } });
  expect(decideWith([first], [everything])).toMatchObject({ status: 'blocked' });
  expect(decideWith([{ ...first, enabled: false }]).status).toBe('filled');
});

test('rules for other formats and placements do not hold an ad back', () => {
  const rules = createRules(
    { formats: ['interstitial', 'banner'], gap_s: 60, gap_after: ['rewarded'] },
    { formats: ['rewarded'], placements: ['level-end'], gap_s: 60 },
  );
  expect(decideWith(rules).status).toBe('filled');
});
