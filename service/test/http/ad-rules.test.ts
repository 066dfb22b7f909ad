import { randomUUID } from 'node:crypto';
import type { AdRule, AdRuleRequest, PlayerSession, Problem } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { firstIdAt } from '../../src/platform/ids.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

const created: string[] = [];
const addRule = async (rule: AdRuleRequest): Promise<AdRule> => {
  const body = await game.client.manage<AdRule>('POST', '/v1/ad-rules', rule);
  created.push(body.id);
  return body;
};
afterEach(async () => {
  for (const id of created.splice(0)) await game.client.manage('DELETE', `/v1/ad-rules/${id}`);
});

const at = (ms: number): string => new Date(game.clock.nowMs() + ms).toISOString();
const request = async (
  placement: string,
  session: PlayerSession | undefined,
  more: { user_ref?: string; segments?: string[]; user_token?: string } = {},
): Promise<FilledDecision> => {
  const body = { placement, ...(session && { session }), ...more };
  const response = await game.client.call<FilledDecision>(
    'POST',
    '/v1/decisions',
    game.client.publishable,
    body,
  );
  expect(response.status).toBe(200);
  return response.body;
};
const seenAfterMs = 2_500;
/** The ad's impression reaches the service. */
const see = async (decision: FilledDecision): Promise<void> => {
  await game.report(game.createEvent(decision, 'start'));
  game.advance(seenAfterMs);
  const visible = { ratio: 1, ms: 2_000 };
  await game.report(game.createEvent(decision, 'impression', { visible }));
};

test('a rule holds an ad back until its time, is named in the explanation, and reaches the client once', async () => {
  const rule = await addRule({ formats: ['interstitial'], first_after_s: 60 });
  const early = await request('level-end', { age_s: 20 });
  expect(early).toMatchObject({
    status: 'no_fill',
    reason: 'frequency_capped',
    retry_at: at(40_000),
    next_ad_at: { interstitial: at(40_000) },
    ad_rules: { rules: [{ formats: ['interstitial'], first_after_s: 60 }] },
    explain: [
      {
        ad_rule_id: rule.id,
        name: 'No interstitial in a session’s first 1 minute.',
        verdict: 'frequency_capped',
      },
    ],
  });
  const version = early.ad_rules?.version ?? '';
  const later = await request('level-end', { age_s: 60, rules_version: version });
  expect([later.status, later.next_ad_at, later.ad_rules]).toEqual([
    'filled',
    undefined,
    undefined,
  ]);
  // Rules are for their formats only, and a disabled one is for none.
  expect((await request('revive', { age_s: 0 }, { user_ref: 'p' })).status).toBe('filled');
  await game.client.manage('PATCH', `/v1/ad-rules/${rule.id}`, { enabled: false });
  const without = await request('level-end', { age_s: 0, rules_version: version });
  expect([without.status, without.ad_rules]).toEqual(['filled', { version: '', rules: [] }]);
  expect((await request('level-end', { age_s: 0 })).ad_rules).toBeUndefined();
});

test('a rule with segments is for their players only, and the longest wait counts', async () => {
  await addRule({ formats: ['interstitial'], first_after_s: 30 });
  await addRule({ formats: ['interstitial'], segments: ['new'], first_after_s: 600 });
  const retryAt = async (segments: string[]) =>
    (await request('level-end', { age_s: 0 }, { segments })).retry_at;
  expect(await retryAt(['new', 'x'])).toBe(at(600_000));
  expect(await retryAt(['old'])).toBe(at(30_000));
});

test('ads on another device count, and the same ad counts once', async () => {
  await addRule({ formats: ['interstitial'], gap_s: 120 });
  await addRule({ formats: ['interstitial'], max_per_hour: 2 });
  const player = { user_ref: 'two-devices' };
  const first = await request('level-end', { age_s: 300 }, player);
  await see(first);
  game.advance(20_000);
  // Another device, which knows of no ad.
  const other = await request('level-end', { age_s: 5 }, player);
  expect(other).toMatchObject({ reason: 'frequency_capped', retry_at: at(100_000) });
  // A rewarded request tells the device when the next interstitial may come.
  const rewarded = await request('revive', { age_s: 5 }, player);
  expect(rewarded).toMatchObject({ status: 'filled' });
  game.advance(100_000);
  const ads = [
    { id: first.id, format: 'interstitial' as const, placement: 'level-end', ago_s: 120 },
  ];
  const second = await request('level-end', { age_s: 420, ads }, player);
  expect(second.status).toBe('filled');
  await see(second);
  game.advance(200_000);
  expect((await request('level-end', { age_s: 700, ads }, player)).retry_at).toBe(
    new Date(Date.parse(first.issued_at) + seenAfterMs + 3_600_000).toISOString(),
  );
  expect((await request('level-end', { age_s: 700 }, { user_ref: 'somebody-else' })).status).toBe(
    'filled',
  );
});

test('players who ask at the same time each count their own ads', async () => {
  await addRule({ formats: ['interstitial'], gap_s: 120 });
  const ask = (player: string) =>
    request('level-end', { age_s: 5 }, { user_ref: `at-once-${player}` });
  await see(await ask('a'));
  game.advance(20_000);
  await see(await ask('b'));
  const players = ['a', 'b', 'c', 'a', 'd', 'b'];
  const decisions = await Promise.all(players.map(ask));
  const [a, b] = [at(120_000 - 20_000 - seenAfterMs), at(120_000)];
  expect(decisions.map(({ retry_at: retryAt }) => retryAt)).toEqual([
    a,
    b,
    undefined,
    a,
    undefined,
    b,
  ]);
  expect(decisions.map(({ status }) => status)).toEqual([
    'no_fill',
    'no_fill',
    'filled',
    'no_fill',
    'filled',
    'no_fill',
  ]);
});

test('a client that lies about its session wins no rewarded ad', async () => {
  await addRule({ formats: ['rewarded'], max_per_hour: 1, gap_s: 600 });
  const player = { user_ref: 'liar' };
  const first = await request('revive', { age_s: 0 }, player);
  await see(first);
  game.advance(60_000);
  const claim = { id: first.id, format: 'rewarded' as const, placement: 'revive', ago_s: 86_000 };
  for (const session of [
    undefined,
    { age_s: 0 },
    { age_s: 0, ads: [] },
    { age_s: 600_000, ads: [] },
    { age_s: 7_200, ads: [claim] },
    { age_s: 0, ads: [{ ...claim, ago_s: 0 }, claim] },
    { age_s: 7_200, ads: [{ ...claim, format: 'banner' as const, placement: 'lobby' }] },
  ]) {
    const { reason, retry_at: retryAt } = await request('revive', session, player);
    expect(reason).toBe('frequency_capped');
    const remainingMs = Date.parse(retryAt ?? '') - game.clock.nowMs();
    expect(remainingMs).toBeGreaterThan(3_600_000 - 60_000 - 5_000 - seenAfterMs);
  }
  // What it invents about another player's ads doesn't count either.
  const invented = {
    ...claim,
    id: `dec_${randomUUID()
      .replaceAll(/[^0-7]/g, '0')
      .slice(0, 26)}`,
  };
  const honest = await request('revive', { age_s: 0, ads: [invented] }, { user_ref: 'other' });
  expect(honest.status).toBe('filled');
});

test('a client can’t start a new session to see more rewarded ads, nor remember less for interstitials', async () => {
  await addRule({ formats: ['rewarded', 'interstitial'], max_per_session: 1 });
  const player = { user_ref: 'session-liar' };
  await see(await request('revive', { age_s: 100 }, player));
  await see(await request('level-end', { age_s: 103 }, player));
  game.advance(1_700_000);
  for (const placement of ['revive', 'level-end'])
    for (const session of [undefined, { age_s: 0 }, { age_s: 0, ads: [] }, { age_s: 2_000 }]) {
      const { reason, retry_at: retryAt } = await request(placement, session, player);
      expect([placement, session, reason, retryAt]).toEqual([
        placement,
        session,
        'frequency_capped',
        undefined,
      ]);
    }
  // After 30 minutes without an ad, the record no longer shows that it is the same session.
  game.advance(200_000);
  expect((await request('revive', { age_s: 0 }, player)).status).toBe('filled');
  expect((await request('revive', { age_s: 2_200 }, player)).reason).toBe('frequency_capped');
});

test('an ad that a device reports twice counts once, and one from the future as shown now', async () => {
  await addRule({ formats: ['interstitial'], max_per_hour: 2, gap_s: 10 });
  const ad = { format: 'interstitial' as const, placement: 'level-end', ago_s: 20 };
  const past = { ...ad, id: firstIdAt('decision', game.clock.nowMs() - 30_000) };
  const twice = await request('level-end', { age_s: 60.5, ads: [past, past] });
  expect(twice.status).toBe('filled');
  const future = { ...ad, id: firstIdAt('decision', game.clock.nowMs() + 86_400_000) };
  const later = await request('level-end', { age_s: 60, ads: [future] });
  expect(later.retry_at).toBe(at(10_000));
});

const seenAd = {
  id: firstIdAt('decision', 0),
  format: 'interstitial',
  placement: 'level-end',
  ago_s: 1,
};
test.each<[unknown, string]>([
  [null, '/session'],
  [[], '/session'],
  [{}, '/session/age_s'],
  [{ age_s: -1 }, '/session/age_s'],
  [{ age_s: 604_801 }, '/session/age_s'],
  [{ age_s: 2 ** 53 }, '/session/age_s'],
  [{ age_s: '1' }, '/session/age_s'],
  [{ age_s: null }, '/session/age_s'],
  [{ age_s: 1, started_at: '2026-01-01T00:00:00Z' }, '/session/started_at'],
  [{ age_s: 1, rules_version: 'x'.repeat(65) }, '/session/rules_version'],
  [{ age_s: 1, ads: seenAd }, '/session/ads'],
  [{ age_s: 1, ads: Array.from({ length: 101 }, () => seenAd) }, '/session/ads'],
  [{ age_s: 1, ads: [{ format: 'video' }] }, '/session/ads/0/id'],
  [{ age_s: 1, ads: [{ ...seenAd, id: 'dec_x' }] }, '/session/ads/0/id'],
  [{ age_s: 1, ads: [{ ...seenAd, format: 'video' }] }, '/session/ads/0/format'],
  [{ age_s: 1, ads: [{ ...seenAd, placement: 'Level End' }] }, '/session/ads/0/placement'],
  [{ age_s: 1, ads: [seenAd, { ...seenAd, ago_s: -1 }] }, '/session/ads/1/ago_s'],
  [{ age_s: 1, ads: [{ ...seenAd, ago_s: 86_401 }] }, '/session/ads/0/ago_s'],
  [{ age_s: 1, ads: [{ ...seenAd, watched: true }] }, '/session/ads/0/watched'],
])('the session %j is refused', async (session, pointer) => {
  const body = { placement: 'level-end', session };
  expect(await refuse('POST', '/v1/decisions', game.client.publishable, body)).toContain(pointer);
});

/** Expects that the request is refused. Returns the pointers of the errors. */
async function refuse(
  method: string,
  path: string,
  key: string,
  body: unknown,
): Promise<string[] | undefined> {
  const response = await game.client.call<Problem>(method, path, key, body as object);
  expect(response.status).toBe(422);
  return response.body.errors?.map((error) => error.pointer);
}

test('a rule can’t change to a format that its placements don’t have', async () => {
  const rule = await addRule({ formats: ['interstitial'], placements: ['level-end'], gap_s: 1 });
  const change = { formats: ['rewarded'] };
  const path = `/v1/ad-rules/${rule.id}`;
  expect(await refuse('PATCH', path, game.client.secret, change)).toEqual(['/placements/0']);
});

const names = (length: number): string[] => Array.from({ length }, (_, index) => `s${index}`);
const limit = { formats: ['interstitial'], gap_s: 1 };
test.each<[unknown, string]>([
  [[], ''],
  [{}, '/formats'],
  // Nothing to hold back, or no limit.
  [{ formats: ['interstitial'] }, ''],
  [{ formats: ['interstitial'], placements: [], segments: [] }, ''],
  [{ ...limit, formats: [] }, '/formats'],
  [{ ...limit, gap_after: [] }, '/gap_after'],
  // Unknown values, and the wrong types.
  [{ ...limit, formats: 'interstitial' }, '/formats'],
  [{ ...limit, formats: ['video'] }, '/formats/0'],
  [{ ...limit, gap_after: ['banner'] }, '/gap_after/0'],
  [{ ...limit, placements: ['nowhere'] }, '/placements/0'],
  [{ ...limit, segments: [''] }, '/segments/0'],
  [{ ...limit, segments: ['x'.repeat(65)] }, '/segments/0'],
  [{ ...limit, segments: [7] }, '/segments/0'],
  [{ ...limit, cooldown_s: 1 }, '/cooldown_s'],
  [{ ...limit, enabled: 'yes' }, '/enabled'],
  [{ formats: ['interstitial'], ad_free_with: '' }, '/ad_free_with'],
  [{ formats: ['interstitial'], ad_free_with: 'x'.repeat(65) }, '/ad_free_with'],
  // Duplicates, and too many.
  [{ ...limit, formats: ['banner', 'banner'] }, '/formats'],
  [{ ...limit, gap_after: ['rewarded', 'rewarded'] }, '/gap_after'],
  [{ ...limit, placements: ['level-end', 'level-end'] }, '/placements'],
  [{ ...limit, segments: ['new', 'new'] }, '/segments'],
  [{ ...limit, segments: names(101) }, '/segments'],
  [{ ...limit, placements: names(101) }, '/placements'],
  // Numbers, among them gaps longer than devices and the service remember.
  ...['first_after_s', 'gap_s', 'max_per_session', 'max_per_hour', 'max_per_day'].flatMap((name) =>
    [0, -1, 0.5, 86_401, 2 ** 53, '1', null].map((value): [object, string] => [
      { formats: ['interstitial'], [name]: value },
      `/${name}`,
    ]),
  ),
  [{ formats: ['interstitial'], first_after_s: 3_601 }, '/first_after_s'],
  [{ formats: ['interstitial'], max_per_day: 101 }, '/max_per_day'],
  // Contradictions.
  [{ formats: ['interstitial'], gap_after: ['rewarded'], max_per_day: 1 }, '/gap_after'],
  [{ ...limit, placements: ['level-end', 'revive'] }, '/placements/1'],
  [{ formats: ['interstitial'], max_per_hour: 3, max_per_day: 2 }, '/max_per_hour'],
  [{ formats: ['interstitial'], max_per_session: 3, max_per_day: 2 }, '/max_per_session'],
  [{ formats: ['interstitial'], gap_s: 1_800, max_per_hour: 3 }, '/gap_s'],
  [{ formats: ['interstitial'], gap_s: 43_200, max_per_day: 3 }, '/gap_s'],
  [{ formats: ['interstitial'], gap_s: 1, ad_free_with: 'no_ads' }, '/ad_free_with'],
  // What only the player’s device says doesn’t limit rewarded ads.
  [{ formats: ['rewarded'], first_after_s: 60 }, '/first_after_s'],
  [{ formats: ['interstitial', 'rewarded'], segments: ['new'], max_per_day: 1 }, '/segments'],
  [{ formats: ['interstitial', 'rewarded'], ad_free_with: 'no_ads' }, '/ad_free_with'],
])('the rule %j is refused', async (rule, pointer) => {
  expect(await refuse('POST', '/v1/ad-rules', game.client.secret, rule)).toContain(pointer);
});

test.each<[AdRuleRequest, object, string]>([
  [{ formats: ['interstitial'], gap_s: 5 }, {}, ''],
  [{ formats: ['interstitial'], gap_s: 5 }, { gap_s: null }, ''],
  [{ formats: ['interstitial'], gap_s: 5 }, { ad_free_with: 'no_ads' }, '/ad_free_with'],
  [{ formats: ['interstitial'], max_per_day: 2 }, { max_per_hour: 3 }, '/max_per_hour'],
  [{ formats: ['interstitial'], first_after_s: 5 }, { formats: ['rewarded'] }, '/first_after_s'],
  [
    { formats: ['interstitial'], placements: ['level-end'], gap_s: 5 },
    { formats: ['banner'] },
    '/placements/0',
  ],
])('the rule %j can’t be changed by %j', async (rule, change, pointer) => {
  const { id } = await addRule(rule);
  const path = `/v1/ad-rules/${id}`;
  expect(await refuse('PATCH', path, game.client.secret, change)).toContain(pointer);
});

test.each<[AdRuleRequest]>([
  [{ formats: ['interstitial'], gap_s: 1_800, max_per_hour: 2 }],
  [{ formats: ['interstitial'], gap_s: 28_800, max_per_day: 3 }],
  [{ formats: ['rewarded', 'interstitial', 'banner'], gap_s: 86_400 }],
  [{ formats: ['interstitial'], first_after_s: 3_600, placements: [], segments: [] }],
  [{ formats: ['interstitial'], max_per_session: 100, max_per_hour: 100, max_per_day: 100 }],
  [{ formats: ['interstitial', 'rewarded'], placements: ['revive', 'level-end'], gap_s: 1 }],
])('the rule %j is accepted', async (rule) => {
  expect(await addRule(rule)).toMatchObject({ ...rule, enabled: true });
});

test('a placement that a rule names can’t be archived', async () => {
  const name = 'ad-rule-place';
  const placement = { name, format: 'interstitial' };
  const { id } = await game.client.manage<{ id: string }>('POST', '/v1/placements', placement);
  const rule = await addRule({ formats: ['interstitial'], placements: [name], gap_s: 5 });
  const { body } = await game.client.call<Problem>(
    'DELETE',
    `/v1/placements/${id}`,
    game.client.secret,
  );
  expect(body).toMatchObject({ code: 'conflict', detail: expect.stringContaining(rule.id) });
});
