import { randomUUID } from 'node:crypto';
import type {
  Guest,
  Job,
  LinkCode,
  PlayerWallet,
  Problem,
  Wallet,
  WalletEntry,
} from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Game } from './reward-game.ts';
import { createWalletPlayers, startWalletGame } from './wallet-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startWalletGame();
});
afterAll(() => game.stop());
const { call, manage, makeGuest, readWallet, spend, earn, makeUserToken, findDifferences } =
  createWalletPlayers(() => game);

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

test.each([
  ['that is mistyped', async () => 'ply_01m8g6vykbf5as9hsq64shcy30'],
  [
    'of a player who was erased',
    async () => {
      const { player_ref: playerRef } = await makeGuest();
      await erase(playerRef);
      return playerRef;
    },
  ],
])('support gets no code for a reference %s', async (_, makeRef) => {
  const playerRef = await makeRef();
  expect(await manage('POST', `/v1/wallets/${playerRef}/link-codes`)).toMatchObject({
    status: 404,
    body: { code: 'not_found', detail: expect.stringContaining(playerRef) as string },
  });
});

test.each([
  ['another process revoked', (ref: string) => forgetTokens(ref)],
  ['the player’s erasure removed', (ref: string) => erase(ref)],
] as const)('a device that %s makes no code to come back with', async (_, remove) => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  // From now on, the service remembers the token for five seconds.
  await readWallet(token);
  await remove(playerRef);
  expect(await call<Problem>('POST', '/v1/players/link-codes', token)).toMatchObject({
    status: 401,
    body: { code: 'player_unknown' },
  });
  expect((await manage('GET', `/v1/wallets/${playerRef}`)).status).toBe(404);
});

test('a revoked device makes no code, although its player has another one by now', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  const path = `/v1/wallets/${playerRef}`;
  await manage('POST', `${path}/grants`, { type: 'coins', amount: 1, reason: 'test' });
  await readWallet(token);
  await forgetTokens(playerRef);
  const { body: given } = await manage<LinkCode>('POST', `${path}/link-codes`);
  const linked = await call<Guest>('POST', '/v1/players/link', undefined, { code: given.code });
  expect(linked.body.player_ref).toBe(playerRef);
  expect(await call<Problem>('POST', '/v1/players/link-codes', token)).toMatchObject({
    status: 401,
    body: { code: 'player_unknown' },
  });
  const own = await call<LinkCode>('POST', '/v1/players/link-codes', linked.body.player_token);
  expect(own.status).toBe(201);
});

const forgetTokens = (playerRef: string) =>
  game.service.database.query('DELETE FROM player_tokens WHERE player_ref = $1', [playerRef]);
async function erase(playerRef: string): Promise<void> {
  const { body } = await manage<Job>('DELETE', `/v1/users/${playerRef}`);
  const readState = async () => (await manage<Job>('GET', `/v1/jobs/${body.id}`)).body.state;
  await expect.poll(readState).toBe('done');
}

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

test('a guest’s time is moved in full, also beyond what grants can give', async () => {
  const { player_ref: ref, player_token: token } = await makeGuest();
  const eve = await makeUserToken('eve');
  const nowMs = game.clock.nowMs();
  // Each is more than half a year, and a grant reaches a year ahead at most.
  for (const player of [ref, 'eve'])
    await manage('POST', `/v1/wallets/${player}/grants`, {
      type: 'vip',
      duration_s: 20_000_000,
      reason: 'paid',
    });
  const { body } = await call<Wallet>('POST', '/v1/wallet/transfers', eve, { from: token });
  expect(body.entitlements).toEqual([
    { type: 'vip', active_until: new Date(nowMs + 40_000_000_000).toISOString() },
  ]);
  expect((await readWallet(token)).entitlements).toEqual([]);
});

test('what does not fit in the receiver’s wallet stays in the guest’s', async () => {
  const { player_ref: ref, player_token: token } = await makeGuest();
  const dan = await makeUserToken('dan');
  const most = 2 ** 53 - 1;
  const { database } = game.service;
  for (const [player, amount] of [
    [ref, 100],
    ['dan', 100],
  ])
    await manage('POST', `/v1/wallets/${player}/grants`, { type: 'coins', amount, reason: 'x' });
  // Grants and rewards are too small for an end-to-end way to this balance.
  for (const [table, sum] of [
    ['wallet_balances', 'balance'],
    ['wallet_entries', 'delta'],
  ])
    await database.query(
      `UPDATE ${table} SET ${sum} = ${most - 40}${table === 'wallet_entries' ? `, balance = ${most - 40}` : ''}
        WHERE viewer = (SELECT viewer FROM wallet_entries WHERE id = $1)`,
      [(await manage<{ data: WalletEntry[] }>('GET', '/v1/wallets/dan/entries')).body.data[0]?.id],
    );
  const { body } = await call<Wallet>('POST', '/v1/wallet/transfers', dan, { from: token });
  expect(body.balances).toEqual({ coins: most });
  expect((await readWallet(token)).balances).toEqual({ coins: 60 });
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

test('a grant is given in full, or refused with what is left', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  const path = `/v1/wallets/${playerRef}`;
  const grant = (body: object) =>
    manage<WalletEntry>('POST', `${path}/grants`, { ...body, reason: 'a party' });
  const year = 31_536_000;
  expect((await grant({ type: 'no_ads', duration_s: year - 60 })).status).toBe(201);
  expect((await grant({ type: 'gems', amount: 1 })).status).toBe(201);
  // No sum of grants gets here in a test.
  const full = Number.MAX_SAFE_INTEGER - 5;
  for (const change of [
    'wallet_balances SET balance = $1',
    'wallet_entries SET balance = $1, delta = $1',
  ])
    await game.service.database.query(
      `UPDATE ${change} WHERE type = 'gems' AND viewer IN (SELECT viewer FROM wallet_balances WHERE balance = 1 OR balance = $1)
        AND balance = 1`,
      [full],
    );
  const before = await readWallet(token);
  for (const [body, pointer, left] of [
    [{ type: 'no_ads', duration_s: 61 }, '/duration_s', 'at most 60,'],
    [{ type: 'no_ads', duration_s: year }, '/duration_s', `got ${year}`],
    [{ type: 'gems', amount: 6 }, '/amount', 'at most 5,'],
  ] as const) {
    const { status, body: problem } = await grant(body);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([422, pointer]);
    expect(problem.errors?.[0]?.message).toContain(left);
  }
  expect(await readWallet(token)).toEqual(before);
  expect((await grant({ type: 'no_ads', duration_s: 60 })).body.duration_s).toBe(60);
  expect((await grant({ type: 'gems', amount: 5 })).body.delta).toBe(5);
  const { data } = (await manage<{ data: WalletEntry[] }>('GET', `${path}/entries`)).body;
  expect(data).toHaveLength(4);
});

test('a reward that doesn’t fit is credited as far as it does, and every record says so', async () => {
  const { player_ref: playerRef, player_token: token } = await makeGuest();
  await earn(token, 'double-coins');
  await earn(token, 'double-coins');
  await earn(token, 'double-coins');
  const path = `/v1/wallets/${playerRef}/entries`;
  const { data } = (await manage<{ data: WalletEntry[] }>('GET', path)).body;
  const { entitlements, now } = await readWallet(token);
  const leftS = (Date.parse(entitlements[0]?.active_until ?? '') - Date.parse(now)) / 1_000;
  const durations = data.map(({ duration_s: seconds = 0 }) => seconds);
  const total = durations.reduce((sum, seconds) => sum + seconds, 0);
  const startMs = Date.parse(data.at(-1)?.at ?? '');
  expect(total).toBe(leftS + (Date.parse(now) - startMs) / 1_000);
  expect(total).toBeLessThan(1_800);
  const events = await game.service.database.query<{ body: string }>(
    "SELECT body FROM webhook_events WHERE type = 'wallet.credited'",
  );
  const credited = events
    .map(({ body }) => JSON.parse(body) as { data: { user_ref: string; duration_s: number } })
    .filter((each) => each.data.user_ref === playerRef)
    .map((each) => each.data.duration_s);
  const ascending = (a: number, b: number): number => a - b;
  expect(credited.toSorted(ascending)).toEqual(durations.toSorted(ascending));
});
