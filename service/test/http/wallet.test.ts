import { randomUUID } from 'node:crypto';
import type { Guest, Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/access/sessions.ts';
import { addAccount } from '../add-account.ts';
import { ownRows } from '../neighbor.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import type { Game } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';
import { coins, createWalletPlayers, doubleXp, startWalletGame } from './wallet-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startWalletGame();
});
afterAll(() => game.stop());
const { call, makeGuest, readWallet, spend, earn, makeUserToken, findDifferences } =
  createWalletPlayers(() => game);

test('a guest earns in the transaction that confirms the ad, and spends once per id', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  expect(await readWallet(token)).toMatchObject({ balances: {}, entitlements: [], version: 0 });
  const decisionId = await earn(token);
  const read = await readWallet(token);
  expect(read).toMatchObject({
    player_ref: playerRef,
    balances: { coins: 25 },
    version: 1,
    now: new Date(game.clock.nowMs()).toISOString(),
  });
  const request = { id: randomUUID(), reason: 'red hat' };
  const first = await spend(token, request);
  expect(first.status).toBe(201);
  expect(first.body).toEqual({
    id: request.id,
    type: 'coins',
    amount: 10,
    balance: 15,
    version: 2,
  });
  expect((await spend(token, { amount: 15 })).body).toMatchObject({ balance: 0, version: 3 });
  // A retry returns the first result, whatever has happened since, also to the price.
  for (const other of [{}, { amount: 11 }, { amount: 9 }, { type: 'gems' }, { reason: 'hat' }])
    expect(await spend(token, { ...request, ...other })).toMatchObject({
      status: 201,
      body: first.body,
    });
  const refused = await spend(token, { amount: 1 });
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ code: 'insufficient_balance', balance: 0 });
  expect(await readWallet(token)).toMatchObject({ balances: {}, version: 3 });
  // A repeated completion earns nothing more.
  const rows = await game.service.database.query(
    'SELECT kind, delta, balance, reason FROM wallet_entries WHERE id = ANY ($1) ORDER BY version',
    [[decisionId, request.id]],
  );
  expect(rows).toEqual([
    { kind: 'reward', delta: 25, balance: 25, reason: null },
    { kind: 'spend', delta: -10, balance: 15, reason: 'red hat' },
  ]);
  expect(await findDifferences()).toEqual([]);
});

test('timed rewards extend each other up to a limit, and end by the service’s clock', async () => {
  const { player_token: token } = await makeGuest();
  const until = async (): Promise<number> => {
    const { entitlements, now } = await readWallet(token);
    expect(entitlements.map(({ type }) => type)).toEqual(['double_xp']);
    return Date.parse(entitlements[0]?.active_until ?? '') - Date.parse(now);
  };
  await earn(token, 'double-coins');
  expect(await until()).toBe(600_000);
  game.advance(500_000);
  await earn(token, 'double-coins');
  // Five seconds of the first one are gone: the ad took as long.
  expect(await until()).toBe(695_000);
  game.advance(60_000);
  await earn(token, 'double-coins');
  expect(await until()).toBe(900_000);
  expect((await spend(token, { type: 'double_xp', amount: 1 })).body.code).toBe(
    'insufficient_balance',
  );
  game.advance(900_000);
  expect((await readWallet(token)).entitlements).toEqual([]);
});

test.each<[string, object, string]>([
  ['an amount of 0', { amount: 0 }, '/amount'],
  ['a negative amount', { amount: -5 }, '/amount'],
  ['a fraction', { amount: 0.5 }, '/amount'],
  ['more than is exact', { amount: 2 ** 53 }, '/amount'],
  ['an amount as text', { amount: '10' }, '/amount'],
  ['no amount', { amount: null }, '/amount'],
  ['an amount as a list', { amount: [10] }, '/amount'],
  ['no type', { type: '' }, '/type'],
  ['a long type', { type: 'x'.repeat(65) }, '/type'],
  ['a type that begins with a space', { type: ' coins' }, '/type'],
  ['a type that is a number', { type: 7 }, '/type'],
  ['no id', { id: '' }, '/id'],
  ['an id of a decision', { id: 'dec_01h455vb4pex5vsknk084sn02q' }, '/id'],
  ['a long id', { id: 'x'.repeat(65) }, '/id'],
  ['a long reason', { reason: 'x'.repeat(65) }, '/reason'],
  ['an unknown member', { balance: 1_000 }, '/balance'],
])('%s is refused with its position', async (_what, request, pointer) => {
  guest ??= await makeGuest();
  const { status, body } = await spend(guest.player_token, request);
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
  expect(body.errors?.map((error) => error.pointer)).toContain(pointer);
});
let guest: Guest | undefined;

test('balances that nobody has are empty, however their type is called', async () => {
  const { player_token: token } = await makeGuest();
  for (const type of ['__proto__', 'constructor', 'toString', 'Coins', '🪙'])
    expect(await spend(token, { type, amount: 2 ** 53 - 1 })).toMatchObject({
      status: 409,
      body: { code: 'insufficient_balance', balance: 0 },
    });
});

test('only a player’s own token opens a wallet', async () => {
  const { client } = game;
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  await earn(token);
  const code = async (key: string, playerToken?: string): Promise<unknown> => {
    const { status, body } = await call<Problem>('GET', '/v1/wallet', playerToken, undefined, key);
    return status === 200 ? 'read' : body.code;
  };
  const { publishable } = client;
  expect(await code(publishable, token)).toBe('read');
  expect(await code(publishable)).toBe('player_required');
  expect(await code(publishable, '')).toBe('token_invalid');
  expect(await code(publishable, playerRef)).toBe('token_invalid');
  const [prefix, subject, secret = ''] = token.split('.');
  for (const guess of ['', secret.slice(1), `${secret.slice(0, -1)}!`, 'A'.repeat(43)])
    expect(await code(publishable, [prefix, subject, guess].join('.'))).toBe('player_unknown');
  // The other environment of the same account, and another account.
  expect(await code(game.keys.live.publishable, token)).toBe('player_unknown');
  await addAccount(game.service.database, 'acc_other');
  const { player_ref: otherRef, player_token: otherToken } = await makeGuest();
  await game.service.database.query(
    `UPDATE player_tokens SET account_id = 'acc_other' WHERE player_ref = $1`,
    [otherRef],
  );
  expect(await code(publishable, otherToken)).toBe('player_unknown');
  // A server's token for somebody is not a token of the guest with this name.
  expect(await code(publishable, await makeUserToken(playerRef))).toBe('token_invalid');
  // The secrets that have just been read are remembered, but only for their environment.
  const proven = await makeUserToken('proven');
  expect(await code(publishable, proven)).toBe('read');
  expect(await code(game.keys.live.publishable, proven)).toBe('token_invalid');
  expect(await code(publishable, proven)).toBe('read');
  expect(await code(client.secret, token)).toBe('key_not_permitted');
  // Without the token, nobody plays as this guest.
  const { body } = await game.requestDecision({ user_ref: playerRef });
  expect(body.code).toBe('identity_required');
  expect((await game.requestDecision({})).body.code).toBe('player_required');
  expect((await game.requestDecision({ user_token: `${token}x` })).body.code).toBe(
    'player_unknown',
  );
});

test('a guest’s token satisfies placements that require a proven player', async () => {
  const { player_token: token } = await makeGuest();
  await updatePlacement(game, 'revive', { identity: 'user_token' });
  expect((await game.requestDecision({})).body.code).toBe('player_required');
  expect((await game.requestDecision({ user_token: token })).body.status).toBe('filled');
  await updatePlacement(game, 'revive', { identity: undefined });
});

test('a reward that a server or nobody credits leaves no trace in wallets', async () => {
  const countRows = async () =>
    (
      await game.service.database.query<{ count: number }>(
        `SELECT (SELECT count(*) FROM wallet_entries WHERE ${ownRows}) + (SELECT count(*) FROM wallet_balances WHERE ${ownRows}) AS count`,
      )
    )[0]?.count;
  const before = await countRows();
  const { player_token: token } = await makeGuest();
  // Nothing about a child is stored for long.
  const child = await game.decide('a child', { child_directed: true });
  expect(child.reward).toEqual({ type: 'coins', amount: 25 });
  expect((await game.watch(child))?.state).toBe('earned');
  await updatePlacement(game, 'revive', { reward: { ...coins, credit: 'webhook' } });
  await earn(token);
  await updatePlacement(game, 'revive', { reward: coins });
  expect(await countRows()).toBe(before);
});

test('a timed reward frees its player from ads, if a rule says so, and only as long as it is active', async () => {
  const { client, clock } = game;
  const hour = { type: 'no_ads', amount: 1, credit: 'wallet', duration_s: 3_600 } as const;
  await updatePlacement(game, 'double-coins', { reward: hour });
  const guest = await makeGuest();
  const { player_token: token } = guest;
  const ask = async (placement: string, request: object = { user_token: token }) => {
    const { body } = await game.requestDecision({ placement, ...request });
    return body.status === 'filled' ? 'filled' : (body.reason ?? body.code);
  };
  await earn(token, 'double-coins');
  expect(await ask('level-end')).toBe('filled');
  const rule = { formats: ['interstitial', 'banner'], ad_free_with: 'no_ads' };
  const { id } = await client.manage<{ id: string }>('POST', '/v1/ad-rules', rule);
  expect(await ask('level-end')).toBe('ad_free');
  expect(await ask('lobby')).toBe('ad_free');
  expect(await ask('revive')).toBe('filled');
  // Neither another player, nor anybody who only knows the player’s name.
  expect(await ask('level-end', { user_token: (await makeGuest()).player_token })).toBe('filled');
  expect(await ask('level-end', {})).toBe('filled');
  const proven = await makeUserToken('supporter');
  const grant = { type: 'no_ads', duration_s: 3_600, reason: 'thanks' };
  await client.manage('POST', '/v1/wallets/supporter/grants', grant);
  expect(await ask('level-end', { user_token: proven })).toBe('ad_free');
  expect(await ask('level-end', { user_ref: 'supporter' })).toBe('filled');
  clock.advance(3_600_000);
  expect(await ask('level-end')).toBe('filled');
  await client.manage('DELETE', `/v1/ad-rules/${id}`);
  await updatePlacement(game, 'double-coins', { reward: doubleXp });
});

test('a difference between entries and balance is found', async () => {
  const { player_token: token } = await makeGuest();
  await earn(token);
  const { database } = game.service;
  const change = (sql: string) =>
    database.query(`${sql} WHERE viewer = (SELECT viewer FROM player_tokens WHERE hash = $1)`, [
      hashToken(token),
    ]);
  await change('UPDATE wallet_balances SET balance = balance + 1');
  expect(await findDifferences()).toMatchObject([{ environment: 'sandbox' }]);
  await change('UPDATE wallet_balances SET balance = balance - 1');
  await change('UPDATE wallet_entries SET version = version + 1');
  expect(await findDifferences()).toHaveLength(1);
  await change('UPDATE wallet_entries SET version = version - 1');
  expect(await findDifferences()).toEqual([]);
});

test.each<[string, object, string | undefined]>([
  ['a whole amount', coins, undefined],
  ['a timed reward', doubleXp, undefined],
  ['a fraction', { ...coins, amount: 0.5 }, '/reward/amount'],
  ['a huge amount', { ...coins, amount: 1e12 }, '/reward/amount'],
  ['a timed reward for a server', { ...doubleXp, credit: 'webhook' }, '/reward/duration_s'],
  ['a limit without a time', { ...coins, max_active_s: 10 }, '/reward/max_active_s'],
  ['a limit below the time', { ...doubleXp, max_active_s: 10 }, '/reward/max_active_s'],
  ['an unknown way to credit', { ...coins, credit: 'cash' }, '/reward/credit'],
])('a placement’s reward: %s', async (what, reward, pointer) => {
  const name = what.replaceAll(/\W/g, '-');
  const { status, body } = await game.client.call<Problem>(
    'POST',
    '/v1/placements',
    game.client.secret,
    { name, format: 'rewarded', reward },
  );
  expect([status, body.errors?.[0]?.pointer]).toEqual([pointer === undefined ? 201 : 422, pointer]);
});

describe.each([
  ['the embedded database', () => Promise.resolve(undefined)],
  ['PostgreSQL', createPostgresDatabase],
])('parallel requests on %s', (name, createDatabase) => {
  const isSkipped = name === 'PostgreSQL' && !hasPostgres;
  let previous: Game;
  beforeAll(async () => {
    previous = game;
    if (name === 'PostgreSQL' && !isSkipped) game = await startWalletGame(await createDatabase());
  });
  afterAll(async () => {
    if (game !== previous) await game.stop();
    game = previous;
  });

  test.skipIf(isSkipped)('never overdraw a balance, and charge each id once', async () => {
    const { player_token: token } = await makeGuest();
    await earn(token);
    const id = randomUUID();
    const requests = [
      ...Array.from({ length: 20 }, () => ({ amount: 2 })),
      ...Array.from({ length: 10 }, () => ({ amount: 2, id })),
    ];
    const results = await Promise.all(requests.map((request) => spend(token, request)));
    const charged = new Set(
      results.filter(({ status }) => status === 201).map(({ body }) => body.id),
    );
    expect(charged.size).toBe(12);
    expect(
      new Set(results.slice(20).map(({ status, body }) => `${status} ${body.balance}`)).size,
    ).toBe(1);
    expect(results.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(await readWallet(token)).toMatchObject({ balances: { coins: 1 }, version: 13 });
    expect(await findDifferences()).toEqual([]);
  });

  test.skipIf(isSkipped)('credit while others spend', async () => {
    const { player_token: token } = await makeGuest();
    await earn(token);
    const { body: decision } = await game.requestDecision({ user_token: token });
    const [, ...spends] = await Promise.all([
      game.watch(decision),
      ...Array.from({ length: 5 }, () => spend(token, { amount: 5 })),
    ]);
    expect(spends.map(({ status }) => status)).toEqual(Array(5).fill(201));
    expect(await readWallet(token)).toMatchObject({ balances: { coins: 25 }, version: 7 });
    expect(await findDifferences()).toEqual([]);
  });
});
