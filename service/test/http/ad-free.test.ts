import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
import { type Game, startGame } from './reward-game.ts';

let game: Game;
/** Signs the game's user tokens. */
let secret: string;
beforeAll(async () => {
  game = await startGame();
  secret = await makeSecret(game.client.secret);
});
afterAll(() => game.stop());

const makeSecret = async (key: string): Promise<string> =>
  (
    await game.client.call<{ secret: string }>('POST', '/v1/user_token_secrets', key, {
      overlap_s: 86_400,
    })
  ).body.secret;
const now = (): number => game.clock.nowMs();
const sign = (key: string, adFree?: true | ('rewarded' | 'interstitial')[]): Promise<string> =>
  signUserToken('player', key, { now, ...(adFree && { adFree }) });
const ask = (body: object) =>
  game.client.call<{ status?: string; reason?: string; code?: string }>(
    'POST',
    '/v1/decisions',
    game.client.publishable,
    body,
  );
const decide = async (placement: string, userToken: string): Promise<string | undefined> => {
  const { body } = await ask({ placement, session: { age_s: 9_999 }, user_token: userToken });
  return body.reason ?? body.status;
};

/** The parts of a token that claims to be free from ads, before its signature. */
async function encodeClaim(adFree: unknown): Promise<string> {
  const [header] = (await sign(secret)).split('.');
  const claims = { sub: 'player', exp: Math.floor(now() / 1_000) + 60, ad_free: adFree };
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
}

test('a signed user token frees a player from the ads that it names', async () => {
  const supporter = await sign(secret, true);
  expect(await decide('level-end', supporter)).toBe('ad_free');
  expect(await decide('revive', supporter)).toBe('filled');
  expect(await decide('revive', await sign(secret, ['rewarded', 'interstitial']))).toBe('ad_free');
  expect(await decide('level-end', await sign(secret))).toBe('filled');
});

test.each(['true', 1, {}, ['interstitial'], false, null])(
  'a signed token whose claim is %j frees nobody: it is a mistake',
  async (adFree) => {
    const text = await encodeClaim(adFree);
    const mac = createHmac('sha256', secret).update(text).digest('base64url');
    expect(await decide('level-end', `${text}.${mac}`)).toBe('filled');
  },
);

const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
const signatureOf = async (): Promise<string> => (await sign(secret)).split('.')[2] ?? '';
const claimsOf = async (): Promise<string> => (await encodeClaim(true)).split('.')[1] ?? '';

test.each<[string, () => Promise<string>]>([
  ['another token’s signature', async () => `${await encodeClaim(true)}.${await signatureOf()}`],
  ['an empty signature', async () => `${await encodeClaim(true)}.`],
  ['no signature', () => encodeClaim(true)],
  ['the algorithm none', async () => `${unsigned}.${await claimsOf()}.`],
  [
    'the algorithm none and a signature',
    async () => `${unsigned}.${await claimsOf()}.${await signatureOf()}`,
  ],
  [
    'the other environment’s signature',
    async () => sign(await makeSecret(game.keys.live.secret), true),
  ],
  ['a wrong secret', () => sign(`${secret}x`, true)],
  [
    'a time that has passed',
    () => signUserToken('player', secret, { now: () => now() - 7_200_000, adFree: true }),
  ],
])('a token with %s frees nobody: it is rejected', async (_, makeToken) => {
  const { body } = await ask({ placement: 'level-end', user_token: await makeToken() });
  expect(body.code).toBe('token_invalid');
});

test.each([
  { ad_free: true },
  { ad_free_formats: ['interstitial'] },
  { session: { age_s: 1, ad_free: true } },
])('a client that claims %j is rejected', async (claim) => {
  expect((await ask({ placement: 'level-end', ...claim })).body.code).toBe('invalid_request');
});
