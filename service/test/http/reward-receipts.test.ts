import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUsedReceipts, verifyReceipt } from '../../../src/server/index.ts';
import { openSecretBox } from '../../src/access/secret-box.ts';
import { readReceiptKeys, rotateReceiptKey } from '../../src/reward/receipt.ts';
import { startGame, type Game } from './reward-game.ts';
import { readAccountId } from './reward-operator.ts';

let game: Game;
let jwksUrl: string;
beforeAll(async () => {
  game = await startGame();
  jwksUrl = `${game.url}/.well-known/jwks.json`;
});
afterAll(() => game.stop());

const earnReceipt = async (userRef: string): Promise<string> => {
  const status = await game.watch(await game.decide(userRef));
  return status?.receipt ?? '';
};
const createOptions = async () =>
  ({
    accountId: await readAccountId(game),
    environment: 'sandbox',
    issuer: 'http://service.test',
    now: game.clock.nowMs,
  }) as const;

test('the `jose` package verifies a receipt with the published keys', async () => {
  const receipt = await earnReceipt('jose');
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  const { payload } = await jwtVerify(receipt, keys, {
    issuer: 'http://service.test',
    audience: await readAccountId(game),
    algorithms: ['EdDSA'],
    typ: 'reward-receipt+jwt',
    requiredClaims: ['sub', 'jti', 'iat', 'exp'],
    currentDate: new Date(game.clock.nowMs()),
  });
  expect(payload).toMatchObject({
    sub: 'jose',
    env: 'sandbox',
    placement: 'revive',
    reward: { type: 'coins', amount: 25 },
    evidence: 'verified',
  });
});

test('a verified receipt can be redeemed once', async () => {
  const receipt = await verifyReceipt(await earnReceipt('once'), jwksUrl, await createOptions());
  expect(receipt).toMatchObject({ userRef: 'once', reward: { type: 'coins', amount: 25 } });
  const usedReceipts = createUsedReceipts({ now: game.clock.nowMs });
  expect([usedReceipts.claim(receipt), usedReceipts.claim(receipt)]).toEqual([true, false]);
});

test('a receipt is identical in every response', async () => {
  const decision = await game.decide('not-stored');
  const receipt = (await game.watch(decision))?.receipt;
  expect(receipt).toBeDefined();
  expect((await game.readRewardStatus(decision.id)).receipt).toBe(receipt);
  const { decisions } = await game.report(game.createEvent(decision, 'close'));
  expect(decisions[0]?.receipt).toBe(receipt);
});

test('receipts signed before a key rotation stay valid until they expire', async () => {
  const oldReceipt = await earnReceipt('before');
  const { config, service } = game;
  await rotateReceiptKey(service.database, openSecretBox(config), game.clock);
  const readKids = async (): Promise<(string | undefined)[]> => {
    const { body } = await game.client.call<{ keys: { kid?: string }[] }>(
      'GET',
      '/.well-known/jwks.json',
    );
    return body.keys.map(({ kid }) => kid);
  };
  // A request for the public keys causes the service to reload them, but at most once a second.
  await expect.poll(async () => (await readKids()).length).toBe(2);
  const newReceipt = await earnReceipt('after');
  expect(decodeProtectedHeader(newReceipt).kid).not.toBe(decodeProtectedHeader(oldReceipt).kid);
  const laterOptions = { ...(await createOptions()), now: () => game.clock.nowMs() };
  // A different URL bypasses the key cache, as if the game server had just started.
  const keys = `${jwksUrl}?after`;
  expect(await verifyReceipt(oldReceipt, keys, laterOptions)).toMatchObject({ userRef: 'before' });
  expect(await verifyReceipt(newReceipt, keys, laterOptions)).toMatchObject({ userRef: 'after' });

  game.advance(31 * 86_400_000 + 3_600_000);
  await expect.poll(readKids).toEqual([decodeProtectedHeader(newReceipt).kid]);
});

test('a rotated key stays published until the last receipt that a process may sign with it expires', async () => {
  const { clock, config, service } = game;
  const box = openSecretBox(config);
  const rotatedAtMs = clock.nowMs();
  const readKids = async (ms: number) =>
    (await readReceiptKeys(service.database, box, { ...clock, nowMs: () => rotatedAtMs + ms })).map(
      ({ kid }) => kid,
    );
  const [oldKid] = await readKids(0);
  await rotateReceiptKey(service.database, box, clock);
  // Receipts are valid for 30 days, and another process may still sign with the key for an hour.
  const lastMs = 30 * 86_400_000 + 3_600_000;
  expect((await readKids(lastMs - 1)).includes(oldKid ?? '')).toBe(true);
  expect((await readKids(lastMs)).includes(oldKid ?? '')).toBe(false);
});

test("a child's user_ref is delivered to the game server but not stored", async () => {
  const child = `child-${'x'.repeat(20)}`;
  const decision = await game.decide(child, { child_directed: true });
  const status = await game.watch(decision);
  expect(status?.state).toBe('earned');
  const receipt = await verifyReceipt(
    status?.receipt ?? '',
    `${jwksUrl}?child`,
    await createOptions(),
  );
  expect(receipt.userRef).toBe(child);
  // Only requests with the decision token return the receipt.
  const repeatedResponse = await game.client.call<{ receipt?: string }>(
    'GET',
    `/v1/decisions/${decision.id}`,
    game.client.publishable,
    undefined,
    { 'decision-token': decision.token },
  );
  expect(repeatedResponse.body.receipt).toBe(status?.receipt);
  expect((await game.readRewardStatus(decision.id)).receipt).toBeUndefined();

  const { database } = game.service;
  const tables = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
    const storedText = rows.map(({ row }) => row).join('\n');
    expect(storedText.includes(child), name).toBe(false);
    expect(storedText.includes(status?.receipt ?? '-'), name).toBe(false);
  }
});
