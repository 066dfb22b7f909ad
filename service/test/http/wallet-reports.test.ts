import type { GrantBudget, Problem, WalletEntry, WalletReport } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';
import type { Game } from './reward-game.ts';
import { createWalletPlayers, startWalletGame } from './wallet-game.ts';

let game: Game;
let panel: PanelClient;
beforeAll(async () => {
  game = await startWalletGame();
  panel = await signInOwner(game);
});
afterAll(() => game.stop());
const { manage, makeGuest, makeUserToken, call, earn, spend } = createWalletPlayers(() => game);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const report = (fromMs: number, toMs: number, tz = 'UTC', key = game.client.secret) => {
  const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
  const path = `/v1/wallet-reports?from=${from}&to=${to}&tz=${encodeURIComponent(tz)}`;
  return game.client.call<WalletReport & Problem>('GET', path, key);
};

test('a report shows sources and sinks per day and reason, and who spends', async () => {
  // Nothing of other tests, which use the same service, is in these days.
  game.advance(3 * dayMs - (game.clock.nowMs() % dayMs));
  const startMs = game.clock.nowMs();
  const [saver, buyer] = [await makeGuest(), await makeGuest()];
  for (const { player_token: token } of [saver, buyer]) await earn(token);
  await earn(buyer.player_token, 'double-coins');
  for (const reason of ['red hat', 'red hat', undefined])
    await spend(buyer.player_token, { amount: 5, ...(reason && { reason }) });
  // A refused spend is none.
  await spend(saver.player_token, { amount: 26 });
  game.advance(dayMs);
  await manage('POST', `/v1/wallets/${saver.player_ref}/grants`, {
    type: 'coins',
    amount: 7,
    reason: 'a lost purchase',
  });
  // A transfer moves what has been counted.
  const ann = await makeUserToken('ann');
  await call('POST', '/v1/wallet/transfers', ann, { from: saver.player_token });

  const { status, body } = await report(startMs, startMs + 2 * dayMs);
  expect(status).toBe(200);
  const [first, second] = [startMs, startMs + dayMs].map((ms) => new Date(ms).toISOString());
  const row = { period: first, type: 'coins', changes: 1, players: 1, amount: 5, duration_s: 0 };
  expect(body.data).toEqual([
    { ...row, kind: 'reward', changes: 2, players: 2, amount: 50 },
    { ...row, kind: 'reward', type: 'double_xp', amount: 0, duration_s: 600 },
    { ...row, kind: 'spend' },
    { ...row, kind: 'spend', reason: 'red hat', changes: 2, amount: 10 },
    { ...row, period: second, kind: 'grant', reason: 'a lost purchase', amount: 7 },
  ]);
  expect(body.players).toEqual({ earned: 2, spent: 1, earned_and_spent: 1 });
  // The timed reward has ended.
  expect(body.holdings).toEqual([{ type: 'coins', players: 2, balance: 42, active_players: 0 }]);
  // Half an hour later, it is the next day in India.
  const indian = (await report(startMs, startMs + hourMs, 'Asia/Kolkata')).body;
  expect(indian.data[0]?.period).toBe(new Date(startMs - 5.5 * hourMs).toISOString());
  expect((await report(startMs, startMs + 2 * dayMs, 'UTC', game.keys.live.secret)).body).toEqual({
    ...body,
    data: [],
    players: { earned: 0, spent: 0, earned_and_spent: 0 },
    holdings: [],
  });
  for (const [fromMs, toMs, tz, pointer] of [
    [startMs, startMs, 'UTC', '/to'],
    [startMs, startMs + 93 * dayMs, 'UTC', '/to'],
    [startMs, startMs + dayMs, 'IST', '/tz'],
  ] as const)
    expect((await report(fromMs, toMs, tz)).body.errors?.[0]?.pointer).toBe(pointer);
});

test('invented reasons are counted together, and hide no frequent one', async () => {
  const { player_ref: ref, player_token: token } = await makeGuest();
  await manage('POST', `/v1/wallets/${ref}/grants`, { type: 'gems', amount: 500, reason: 'x' });
  const startMs = game.clock.nowMs();
  const reasons = Array.from({ length: 105 }, (_, index) => `r${String(index).padStart(3, '0')}`);
  await Promise.all(
    [...reasons, 'sword', 'sword'].map((reason) =>
      spend(token, { type: 'gems', amount: 1, reason }),
    ),
  );
  const { data } = (await report(startMs, startMs + hourMs)).body;
  const spends = data.filter(({ kind }) => kind === 'spend');
  const find = (name: string) => spends.find(({ reason }) => reason === name)?.changes;
  // One of the hundred is the grant's.
  expect([spends.length, find('sword'), find('(other)')]).toEqual([100, 2, 7]);
});

test('users give no more per day than the owner’s budget, and keys are not limited', async () => {
  const give = (ref: string, grant: object, client = panel) =>
    client.send<WalletEntry & Problem>('POST', `/v1/wallets/${ref}/grants`, {
      reason: 'a lost purchase',
      ...grant,
    });
  const setBudget = (type: string, budget: object) =>
    panel.send<GrantBudget & Problem>('PUT', `/v1/grant-budgets/${type}`, budget);
  const coins = (amount: number) => ({ type: 'coins', amount });
  // The session has ended with the days of the other tests.
  await panel.signIn('owner@example.com');
  // Before an owner sets a budget, users give nothing.
  const refused = await give('eve', coins(1));
  expect(refused).toMatchObject({ status: 409, body: { code: 'quota_exceeded' } });
  expect(refused.body.detail).toContain('is 0 coins, of which 0 are left; got 1');
  expect((await setBudget('coins', { amount: 100 })).body).toEqual({
    type: 'coins',
    amount: 100,
    duration_s: 0,
    used_amount: 0,
    used_duration_s: 0,
  });
  await setBudget('no_ads', { duration_s: 3_600 });
  // All users and all players share it, and two at once don't exceed it.
  const both = await Promise.all([give('eve', coins(60)), give('fay', coins(60))]);
  expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409']);
  expect((await give('eve', coins(41))).body.detail).toContain('40 are left; got 41');
  expect((await give('eve', coins(40))).status).toBe(201);
  const time = { type: 'no_ads', duration_s: 3_000 };
  expect((await give('eve', time)).status).toBe(201);
  expect((await give('eve', time)).body.detail).toContain('3600 seconds of no_ads, of which 600');
  // A budget for an amount is none for a time, and one environment's is none for the other's.
  expect((await give('eve', { type: 'coins', duration_s: 1 })).status).toBe(409);
  const live = createPanelClient(game.url, 'live');
  await live.signIn('owner@example.com');
  expect((await give('eve', coins(1), live)).status).toBe(409);
  // What is used of a budget for both is counted separately, and stays when the budget changes.
  await setBudget('gems', { amount: 10, duration_s: 100 });
  expect((await give('eve', { type: 'gems', amount: 5 })).status).toBe(201);
  expect((await give('eve', { type: 'gems', duration_s: 60 })).status).toBe(201);
  const used = { used_amount: 5, used_duration_s: 60 };
  expect((await setBudget('gems', { amount: 20, duration_s: 100 })).body).toMatchObject(used);
  expect((await give('eve', { type: 'gems', duration_s: 41 })).status).toBe(409);
  // What no wallet can hold is not taken from the budget.
  const year = 31_536_000;
  await setBudget('boost', { duration_s: 3 * year });
  const whole = { type: 'boost', duration_s: year };
  expect((await give('eve', whole)).status).toBe(201);
  expect((await give('eve', whole)).body.errors).toMatchObject([{ pointer: '/duration_s' }]);
  // A refused grant gives nothing and takes nothing, and a repeated one gives once.
  const list = async () =>
    (await panel.send<{ data: GrantBudget[] }>('GET', '/v1/grant-budgets')).body.data;
  expect(await list()).toMatchObject([
    { type: 'boost', duration_s: 3 * year, used_duration_s: year },
    { type: 'coins', amount: 100, used_amount: 100 },
    { type: 'gems', amount: 20, ...used },
    { type: 'no_ads', duration_s: 3_600, used_duration_s: 3_000 },
  ]);
  // Keys are for servers, which could also change what ads earn.
  const byKey = { ...coins(1_000), reason: 'a birthday' };
  expect((await manage('POST', '/v1/wallets/eve/grants', byKey)).status).toBe(201);
  // A raise counts what was given, and so does a clock that is behind.
  await setBudget('coins', { amount: 110 });
  expect((await give('eve', coins(11))).status).toBe(409);
  const goTo = async (ms: number) => {
    game.clock.move({ shiftWallMs: ms });
    await panel.signIn('owner@example.com');
  };
  await goTo(dayMs);
  expect((await give('eve', coins(110))).status).toBe(201);
  expect((await give('eve', coins(1))).status).toBe(409);
  await goTo(-dayMs);
  expect((await give('eve', coins(1))).status).toBe(409);
  // What is given by that clock counts for the later day.
  await setBudget('coins', { amount: 120 });
  expect((await give('eve', coins(5))).status).toBe(201);
  await goTo(dayMs);
  expect((await give('eve', coins(6))).status).toBe(409);
  for (const [budget, pointer] of [
    [{ amount: -1 }, '/amount'],
    [{ amount: 1.5 }, '/amount'],
    [{ amount: 2 ** 53 }, '/amount'],
    [{ hours: 1 }, ''],
  ] as const)
    expect((await setBudget('coins', budget)).body.errors?.[0]?.pointer).toContain(pointer);
  const audit = await manage<{ data: { target_id: string }[] }>(
    'GET',
    '/v1/audit-entries?action=grant_budget.set',
  );
  expect(audit.body.data.map(({ target_id: type }) => type).toSorted()).toEqual([
    'boost',
    'coins',
    'coins',
    'coins',
    'gems',
    'gems',
    'no_ads',
  ]);
});
