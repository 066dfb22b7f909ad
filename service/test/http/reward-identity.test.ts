import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
import { startGame, type Game } from './reward-game.ts';
import { updatePlacement } from './reward-operator.ts';

let game: Game;
let secret: string;
beforeAll(async () => {
  game = await startGame();
  secret = await createSecret(86_400);
});
afterAll(() => game.stop());

async function createSecret(overlap: number): Promise<string> {
  const { client } = game;
  const { status, body } = await client.call<{ secret: string }>(
    'POST',
    '/v1/user_token_secrets',
    client.secret,
    { overlap_s: overlap },
  );
  expect(status).toBe(201);
  return body.secret;
}
const now = () => game.clock.nowMs();
const request = async (userToken: string, fields = {}) => {
  const { status, body } = await game.requestDecision({ user_token: userToken, ...fields });
  return status === 200 ? body.status : body.code;
};

test('a decision requested by a game server rewards the player named in the request', async () => {
  const request = { user_ref: 'named-by-server' };
  const { body: decision } = await game.requestDecision(request, game.client.secret);
  expect(await game.watch(decision)).toMatchObject({ state: 'earned' });
  expect(await game.countWebhookEvents('decision.rewarded', '"user_ref":"named-by-server"')).toBe(
    1,
  );
});

test('a user token identifies the player who gets the reward', async () => {
  const token = await signUserToken('proven', secret, { now });
  const { body: decision } = await game.requestDecision({ user_token: token });
  expect(await game.watch(decision)).toMatchObject({ state: 'earned' });
  expect(await game.countWebhookEvents('decision.rewarded', '"user_ref":"proven"')).toBe(1);
  expect(await request(token, { user_ref: 'proven' })).toBe('filled');
  expect(await request(token, { user_ref: 'somebody-else' })).toBe('token_invalid');
});

test('a user token that is forged, unsigned, expired, non-expiring or from the live environment is rejected', async () => {
  const sign = (claims: object, key = secret, alg = 'HS256') =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key));
  const exp = Math.floor(now() / 1_000) + 600;
  expect(await request(await sign({ sub: 'me', exp }))).toBe('filled');
  const { body: liveSecret } = await game.client.call<{ secret: string }>(
    'POST',
    '/v1/user_token_secrets',
    game.keys.live.secret,
    { overlap_s: 0 },
  );
  const unsignedToken = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: 'me', exp })).toString('base64url')}.`;
  const rejectedTokens = [
    await sign({ sub: 'me', exp }, `${secret}x`),
    await sign({ sub: 'me', exp: exp - 700 }),
    await sign({ sub: 'me' }),
    await sign({ exp }),
    await sign({ sub: 'me', exp: exp + 90_000 }),
    await sign({ sub: 'me', exp }, liveSecret.secret),
    await sign({ sub: 'me', exp }, secret, 'HS512'),
    unsignedToken,
    'x',
  ];
  for (const token of rejectedTokens) expect(await request(token)).toBe('token_invalid');
});

test('the old secret stays valid until the rotation overlap ends', async () => {
  const oldToken = await signUserToken('patient', secret, { now });
  const previousSecret = secret;
  secret = await createSecret(60);
  expect(await request(oldToken)).toBe('filled');
  game.advance(61_000);
  expect(await request(await signUserToken('patient', previousSecret, { now }))).toBe(
    'token_invalid',
  );
  expect(await request(await signUserToken('patient', secret, { now }))).toBe('filled');
});

test('a placement can require a user token or a request from the game server', async () => {
  const code = async (request: object, key?: string) => {
    const { status, body } = await game.requestDecision(
      { placement: 'double-coins', ...request },
      key,
    );
    return status === 200 ? body.status : body.code;
  };
  const userToken = await signUserToken('strict', secret, { now });
  await updatePlacement(game, 'double-coins', { identity: 'user_token' });
  expect(await code({ user_ref: 'anybody' })).toBe('identity_required');
  expect(await code({ user_token: userToken })).toBe('filled');
  expect(await code({ user_ref: 'anybody' }, game.client.secret)).toBe('filled');
  // Caps deny for good, because the ads are one player's.
  await updatePlacement(game, 'double-coins', { frequency_cap: { max: 1, per_s: 3_600 } });
  const ads = [];
  for (let count = 0; count < 2; count += 1)
    ads.push(
      (await game.requestDecision({ placement: 'double-coins', user_token: userToken })).body,
    );
  for (const state of ['earned', 'denied']) {
    game.advance(20_000);
    const [ad] = ads.splice(0, 1);
    if (ad) expect(await game.watch(ad)).toMatchObject({ state });
  }
  await updatePlacement(game, 'double-coins', { frequency_cap: undefined });

  await updatePlacement(game, 'double-coins', { identity: 'server' });
  expect(await code({ user_token: userToken })).toBe('identity_required');
  expect(await code({ user_ref: 'anybody' }, game.client.secret)).toBe('filled');
});
