import { randomUUID } from 'node:crypto';
import type {
  Guest,
  Job,
  LinkCode,
  PlayerWallet,
  Problem,
  Spend,
  Wallet,
  WalletEntry,
} from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
import { hashToken } from '../../src/access/sessions.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { addAccount } from '../add-account.ts';
import { ownRows } from '../neighbor.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startGame, type Game } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';

const coins = { type: 'coins', amount: 25, credit: 'wallet' } as const;
const doubleXp = {
  type: 'double_xp',
  amount: 1,
  credit: 'wallet',
  duration_s: 600,
  max_active_s: 900,
} as const;

let game: Game;
const startWalletGame = async (databaseUrl?: string): Promise<Game> => {
  const started = await startGame(databaseUrl);
  await updatePlacement(started, 'revive', { reward: coins });
  await updatePlacement(started, 'double-coins', { reward: doubleXp });
  return started;
};
beforeAll(async () => {
  game = await startWalletGame();
});
afterAll(() => game.stop());

const call = <T>(
  method: string,
  path: string,
  token?: string,
  body?: unknown,
  key = game.client.publishable,
) =>
  game.client.call<T>(
    method,
    path,
    key,
    body,
    token === undefined ? {} : { 'player-token': token },
  );
const makeGuest = async (): Promise<Guest> => {
  const { status, body } = await call<Guest>('POST', '/v1/players');
  expect(status).toBe(201);
  return body;
};
const readWallet = async (token: string): Promise<Wallet> => {
  const { status, body } = await call<Wallet>('GET', '/v1/wallet', token);
  expect(status).toBe(200);
  return body;
};
const spend = (token: string, request: object) =>
  call<Spend & Problem>('POST', '/v1/wallet/spends', token, {
    id: randomUUID(),
    type: 'coins',
    amount: 10,
    ...request,
  });
/** Watches an ad as this guest. */
const earn = async (token: string, placement = 'revive'): Promise<string> => {
  const { body } = await game.requestDecision({ user_token: token, placement });
  expect((await game.watch(body))?.state).toBe('earned');
  return body.id;
};
const findDifferences = () => findSumDifferences(game.service.database);

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
  // A retry returns the first result, whatever has happened since.
  expect(await spend(token, request)).toMatchObject({ status: 201, body: first.body });
  for (const other of [{ amount: 11 }, { type: 'gems' }])
    expect((await spend(token, { ...request, ...other })).body.code).toBe('idempotency_key_reused');
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
  for (const type of ['__proto__', 'constructor', 'toString', 'Coins', ' coins', '🪙'])
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
  expect(await code(publishable, await makeUserToken('proven'))).toBe('read');
  expect(await code(client.secret, token)).toBe('key_not_permitted');
  // Without the token, nobody plays as this guest.
  const { body } = await game.requestDecision({ user_ref: playerRef });
  expect(body.code).toBe('identity_required');
  expect((await game.requestDecision({})).body.code).toBe('player_required');
  expect((await game.requestDecision({ user_token: `${token}x` })).body.code).toBe(
    'player_unknown',
  );
});

async function makeUserToken(userRef: string): Promise<string> {
  const { client } = game;
  const { secret } = await client.manage<{ secret: string }>('POST', '/v1/user_token_secrets', {
    overlap_s: 86_400,
  });
  return signUserToken(userRef, secret, { now: () => game.clock.nowMs() });
}

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

const manage = <T>(method: string, path: string, body?: object) =>
  game.client.call<T & Problem>(method, path, game.client.secret, body);

test('a code makes another device the same player, once and for ten minutes', async () => {
  const first = await makeGuest();
  await earn(first.player_token);
  const makeCode = async () =>
    (await call<LinkCode>('POST', '/v1/players/link-codes', first.player_token)).body.code;
  const link = (code: string, key?: string) =>
    call<Guest & Problem>('POST', '/v1/players/link', undefined, { code }, key);
  const code = await makeCode();
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  // A code belongs to one environment, and a wrong one doesn't use it up.
  expect((await link(code, game.keys.live.publishable)).body.code).toBe('link_code_invalid');
  expect((await link('0000-0000')).body.code).toBe('link_code_invalid');
  const { status, body: second } = await link(` ${code.toLowerCase().replace('-', ' ')}`);
  expect({ status, ref: second.player_ref }).toEqual({ status: 201, ref: first.player_ref });
  expect((await link(code)).body.code).toBe('link_code_invalid');
  expect(second.player_token).not.toBe(first.player_token);
  // Both devices spend from one balance.
  expect((await spend(second.player_token, { amount: 20 })).status).toBe(201);
  expect((await spend(first.player_token, { amount: 20 })).body.code).toBe('insufficient_balance');
  const replaced = await makeCode();
  const latest = await makeCode();
  expect((await link(replaced)).status).toBe(409);
  game.advance(600_000);
  expect((await link(latest)).status).toBe(409);
  // A studio's own players sign in.
  const userToken = await makeUserToken('proven');
  expect((await call<Problem>('POST', '/v1/players/link-codes', userToken)).body.code).toBe(
    'player_required',
  );
});

test('support reads a wallet, makes good, revokes a stolen device and lets the player back in', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  await earn(token);
  const path = `/v1/wallets/${playerRef}`;
  const grant = (body: object) => manage<WalletEntry>('POST', `${path}/grants`, body);
  for (const [body, pointer] of [
    [{ type: 'coins', reason: 'lost' }, '/amount'],
    [{ type: 'coins', amount: 5, duration_s: 5, reason: 'lost' }, '/amount'],
    [{ type: 'coins', amount: -5, reason: 'lost' }, '/amount'],
    [{ type: 'coins', amount: 5 }, '/reason'],
  ] as const)
    expect((await grant(body)).body.errors?.[0]?.pointer).toBe(pointer);
  expect(await grant({ type: 'coins', amount: 100, reason: 'a lost purchase' })).toMatchObject({
    status: 201,
    body: { kind: 'grant', delta: 100, balance: 125, version: 2 },
  });
  await grant({ type: 'no_ads', duration_s: 3_600, reason: 'a lost purchase' });
  expect((await manage<PlayerWallet>('GET', path)).body).toMatchObject({
    balances: { coins: 125 },
    entitlements: [{ type: 'no_ads' }],
    devices: [{ linked_at: new Date(game.clock.nowMs() - 5_000).toISOString() }],
  });
  const list = async (query: string) =>
    (await manage<{ data: WalletEntry[]; next_cursor?: string }>('GET', `${path}/entries?${query}`))
      .body;
  const page = await list('limit=2');
  expect(page.data.map(({ kind, type }) => `${kind} ${type}`)).toEqual([
    'grant no_ads',
    'grant coins',
  ]);
  expect((await list(`starting_after=${page.next_cursor}`)).data).toMatchObject([
    { kind: 'reward', delta: 25, version: 1 },
  ]);
  const audit = await manage<{ data: { after: object }[] }>(
    'GET',
    '/v1/audit-entries?action=wallet.granted',
  );
  expect(audit.body.data).toHaveLength(2);
  expect(JSON.stringify(audit.body)).not.toContain(playerRef);

  expect((await manage('DELETE', `${path}/devices`)).status).toBe(204);
  expect((await call<Problem>('GET', '/v1/wallet', token)).body.code).toBe('player_unknown');
  const { body: code } = await manage<LinkCode>('POST', `${path}/link-codes`);
  const { body: linked } = await call<Guest>('POST', '/v1/players/link', undefined, {
    code: code.code,
  });
  expect(await readWallet(linked.player_token)).toMatchObject({ balances: { coins: 125 } });
  expect((await manage('GET', '/v1/wallets/nobody')).status).toBe(404);
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

test('a player’s wallet and devices are exported, and erased with the player', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  await earn(token);
  await earn(token, 'double-coins');
  const url = `${game.url}/v1/users/${playerRef}/export`;
  const authorization = `Bearer ${game.client.secret}`;
  const text = await (await fetch(url, { headers: { authorization } })).text();
  const records = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { record: string }).record);
  expect(records.filter((record) => !/^(decision|webhook_event)$/.test(record))).toEqual([
    'wallet_balance',
    'wallet_balance',
    'wallet_entry',
    'wallet_entry',
    'device',
  ]);
  const job = await manage<Job>('DELETE', `/v1/users/${playerRef}`);
  const readJob = async () => (await manage<Job>('GET', `/v1/jobs/${job.body.id}`)).body;
  await expect.poll(async () => (await readJob()).state).toBe('done');
  expect((await readJob()).counts).toMatchObject({ devices: 1, wallet_entries: 2 });
  expect((await manage('GET', `/v1/wallets/${playerRef}`)).status).toBe(404);
  expect(await findDifferences()).toEqual([]);
});

test('a guest who signs in takes the wallet along, once, and nobody else gets it', async () => {
  const first = await makeGuest();
  await earn(first.player_token);
  await earn(first.player_token, 'double-coins');
  const ann = await makeUserToken('ann');
  const transfer = (from: string, to = ann, key?: string) =>
    call<Wallet & Problem>('POST', '/v1/wallet/transfers', to, { from }, key);
  // Both at once: nothing is moved twice, and nothing is lost.
  const both = await Promise.all([transfer(first.player_token), transfer(first.player_token)]);
  for (const { status, body } of both)
    expect([status, body.player_ref, body.balances]).toEqual([200, 'ann', { coins: 25 }]);
  const { body: moved } = await transfer(first.player_token);
  expect(moved).toMatchObject({ balances: { coins: 25 }, entitlements: [{ type: 'double_xp' }] });
  expect(await readWallet(first.player_token)).toMatchObject({ balances: {}, entitlements: [] });
  // A reward that is confirmed later follows, but only to the same player.
  await earn(first.player_token);
  const bob = await makeUserToken('bob');
  expect(await transfer(first.player_token, bob)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
  expect((await transfer(first.player_token)).body.balances).toEqual({ coins: 50 });
  // Two guests are not merged, a player is not moved, and nobody is moved by a name.
  const second = await makeGuest();
  for (const [from, to, code] of [
    [first.player_token, second.player_token, 'identity_required'],
    [ann, bob, 'identity_required'],
    [first.player_ref, bob, 'token_invalid'],
    [`${second.player_token}x`, bob, 'player_unknown'],
    ['', bob, 'invalid_request'],
  ] as const)
    expect((await transfer(from, to)).body.code).toBe(code);
  expect((await transfer(second.player_token, ann, game.keys.live.publishable)).body.code).toBe(
    'token_invalid',
  );
  // Many guests can’t be collected in one wallet.
  const codes = [];
  for (let index = 0; index < 9; index += 1) {
    const { player_ref: ref, player_token: token } = await makeGuest();
    await manage('POST', `/v1/wallets/${ref}/grants`, { type: 'coins', amount: 1, reason: 'x' });
    game.advance(1_000);
    codes.push((await transfer(token)).body.code ?? 'moved');
  }
  expect(codes).toEqual([...Array<string>(8).fill('moved'), 'rate_limited']);
  expect((await readWallet(ann)).balances).toEqual({ coins: 58 });
  expect(await findDifferences()).toEqual([]);
});

test('servers that subscribe hear what wallets are credited with, and what is spent', async () => {
  const { body: webhook } = await manage<{ id: string }>('POST', '/v1/webhooks', {
    url: 'https://receiver.example/wallets',
    events: ['wallet.credited', 'wallet.spent'],
  });
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  const decisionId = await earn(token);
  await earn(token, 'double-coins');
  const request = { id: randomUUID(), amount: 10, reason: 'red hat' };
  await spend(token, request);
  await spend(token, request);
  await spend(token, { amount: 100 });
  await manage('POST', `/v1/wallets/${playerRef}/grants`, {
    type: 'coins',
    amount: 5,
    reason: 'sorry',
  });
  const carol = await makeUserToken('carol');
  await call('POST', '/v1/wallet/transfers', carol, { from: token });
  const stored = await game.service.database.query<{ body: string }>(
    `SELECT body FROM webhook_events e JOIN delivery_queue d
      ON d.account_id = e.account_id AND d.event_id = e.id WHERE d.webhook_id = $1 ORDER BY e.id`,
    [webhook.id],
  );
  const events = stored.map(({ body }) => JSON.parse(body) as { type: string; data: object });
  const coin = { user_ref: playerRef, type: 'coins' };
  // Those of the same millisecond have no order.
  const has = (type: string, data: object): void =>
    expect(events).toContainEqual({
      id: expect.any(String) as string,
      created_at: expect.any(String) as string,
      environment: 'sandbox',
      type,
      data: expect.objectContaining(data) as object,
    });
  has('wallet.credited', {
    ...coin,
    kind: 'reward',
    entry_id: decisionId,
    amount: 25,
    balance: 25,
    version: 1,
  });
  has('wallet.credited', { type: 'double_xp', kind: 'reward', duration_s: 600 });
  const spent = { entry_id: request.id, amount: 10, reason: 'red hat', balance: 15 };
  has('wallet.spent', { ...coin, ...spent });
  has('wallet.credited', { ...coin, kind: 'grant', amount: 5, reason: 'sorry' });
  const moved = { user_ref: 'carol', kind: 'transfer', from_user_ref: playerRef };
  has('wallet.credited', { ...moved, type: 'coins', amount: 20 });
  has('wallet.credited', { ...moved, type: 'double_xp' });
  expect(events).toHaveLength(6);
  await manage('DELETE', `/v1/webhooks/${webhook.id}`);
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
