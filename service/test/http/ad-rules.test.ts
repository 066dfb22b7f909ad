import { randomUUID } from 'node:crypto';
import type {
  AdRule,
  AdRuleRequest,
  Decision,
  PlayerSession,
  Problem,
} from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
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
  session: PlayerSession,
  more: { user_ref?: string; segments?: string[]; user_token?: string } = {},
): Promise<FilledDecision> => {
  const body = { placement, session, ...more };
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

test('a client that lies about its session wins no rewarded ad', async () => {
  await addRule({ formats: ['rewarded'], max_per_hour: 1, gap_s: 600 });
  const player = { user_ref: 'liar' };
  const first = await request('revive', { age_s: 0 }, player);
  await see(first);
  game.advance(60_000);
  const claim = { id: first.id, format: 'rewarded' as const, placement: 'revive', ago_s: 86_000 };
  for (const session of [
    { age_s: 0 },
    { age_s: 600_000, ads: [] },
    { age_s: 7_200, ads: [claim] },
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

test.each([
  [{ age_s: -1 }, '/session/age_s'],
  [{ age_s: 1e9 }, '/session/age_s'],
  [{ age_s: 'x' }, '/session/age_s'],
  [{}, '/session/age_s'],
  [{ age_s: 1, ads: [{ format: 'video' }] }, '/session/ads/0/id'],
  [{ age_s: 1, ads: Array.from({ length: 101 }, () => ({})) }, '/session/ads'],
])('the session %j is refused', async (session, pointer) => {
  const { status, body } = await game.client.call<Problem>(
    'POST',
    '/v1/decisions',
    game.client.publishable,
    { placement: 'level-end', session },
  );
  expect([status, body.errors?.map((error) => error.pointer)]).toEqual([
    422,
    expect.arrayContaining([pointer]),
  ]);
});

test.each<[object, string]>([
  [{ formats: ['interstitial'] }, ''],
  [{ formats: [], gap_s: 1 }, '/formats'],
  [{ formats: ['video'], gap_s: 1 }, '/formats/0'],
  [{ formats: ['interstitial'], gap_s: 86_401 }, '/gap_s'],
  [{ formats: ['interstitial'], gap_s: 0 }, '/gap_s'],
  [{ formats: ['interstitial'], segments: [''], gap_s: 1 }, '/segments/0'],
  [{ formats: ['interstitial'], placements: ['nowhere'], gap_s: 1 }, '/placements/0'],
  [{ formats: ['interstitial'], gap_after: ['rewarded'], max_per_day: 1 }, '/gap_after'],
  [{ formats: ['rewarded'], first_after_s: 60 }, '/first_after_s'],
  [{ formats: ['interstitial'], max_per_hour: 3, max_per_day: 2 }, '/max_per_hour'],
  [{ formats: ['interstitial'], max_per_session: 3, max_per_day: 2 }, '/max_per_session'],
  [{ formats: ['interstitial'], gap_s: 1_800, max_per_hour: 3 }, '/gap_s'],
  [{ formats: ['interstitial'], gap_s: 1, cooldown_s: 1 }, '/cooldown_s'],
  [{ formats: ['interstitial', 'rewarded'], ad_free_with: 'no_ads' }, '/ad_free_with'],
  [{ formats: ['interstitial'], gap_s: 1, ad_free_with: 'no_ads' }, '/ad_free_with'],
])('the rule %j is refused', async (rule, pointer) => {
  const { status, body } = await game.client.call<Problem>(
    'POST',
    '/v1/ad-rules',
    game.client.secret,
    rule,
  );
  expect([status, body.errors?.map((error) => error.pointer)]).toEqual([
    422,
    expect.arrayContaining([pointer]),
  ]);
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

test('only a signed user token frees a player from ads', async () => {
  const { secret } = await game.client.manage<{ secret: string }>(
    'POST',
    '/v1/user_token_secrets',
    {
      overlap_s: 86_400,
    },
  );
  const now = () => game.clock.nowMs();
  const decide = async (placement: string, userToken: string): Promise<Partial<Decision>> =>
    request(placement, { age_s: 9_999 }, { user_token: userToken });
  const supporter = await signUserToken('supporter', secret, { now, adFree: true });
  expect(await decide('level-end', supporter)).toMatchObject({
    status: 'no_fill',
    reason: 'ad_free',
  });
  expect((await decide('revive', supporter)).status).toBe('filled');
  const nothing = await signUserToken('vip', secret, { now, adFree: ['rewarded', 'interstitial'] });
  expect((await decide('revive', nothing)).reason).toBe('ad_free');
  const everybody = await signUserToken('player', secret, { now });
  expect((await decide('level-end', everybody)).status).toBe('filled');
  // A client that changes the claim has no valid token.
  const [header, , signature] = everybody.split('.');
  const claims = { sub: 'player', exp: Math.floor(now() / 1_000) + 60, ad_free: true };
  const forged = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
  const { body } = await game.client.call<Problem>(
    'POST',
    '/v1/decisions',
    game.client.publishable,
    { placement: 'level-end', user_token: forged },
  );
  expect(body.code).toBe('token_invalid');
});
