import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  PortalTokenError,
  verifyPortalToken,
  type VerifiablePortal,
  type VerifyPortalTokenOptions,
} from '../../../src/server/index.ts';

const nowS = 1_800_000_000;
const now = (): number => nowS * 1_000;
const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const otherKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const serveKey = (type: 'pkcs1' | 'spki') => async () =>
  Response.json({ publicKey: publicKey.export({ format: 'pem', type }) });

const claims = { userId: 'u-1', gameId: '20267', username: 'Ada', iat: nowS - 10, exp: nowS + 10 };
const createJwt = (payload: object, { alg = 'RS256', key = privateKey } = {}): string => {
  const text = `${encode({ alg, typ: 'JWT' })}.${encode(payload)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
};
const hmac = (text: string, secret = 's3cret') => createHmac('sha256', secret).update(text);
const createFacebook = (payload: object, secret?: string): string =>
  `${hmac(encode(payload), secret).digest('base64url')}.${encode(payload)}`;
const createYandex = (payload: object): string => {
  const text = JSON.stringify(payload);
  return `${hmac(text).digest('base64')}.${Buffer.from(text).toString('base64')}`;
};
const facebook = { algorithm: 'HMAC-SHA256', issued_at: nowS - 5, player_id: '42' };
const yandex = { issuedAt: nowS - 5, data: { uniqueID: 'y-1', publicName: 'Zoë' } };

const verify = (
  portal: VerifiablePortal,
  token: string,
  more: VerifyPortalTokenOptions = {},
): Promise<unknown> =>
  verifyPortalToken(portal, token, {
    now,
    fetch: serveKey('spki'),
    ...(portal === 'crazygames' ? { gameId: '20267' } : { secret: 's3cret' }),
    ...more,
  });

it('returns the player whom a portal has signed', async () => {
  expect(await verify('crazygames', createJwt(claims))).toEqual({ id: 'u-1', name: 'Ada' });
  const pkcs1 = { fetch: serveKey('pkcs1') };
  expect(await verify('crazygames', createJwt(claims), pkcs1)).toMatchObject({ id: 'u-1' });
  expect(await verify('facebook', createFacebook(facebook))).toEqual({ id: '42' });
  expect(await verify('yandex', createYandex(yandex))).toEqual({ id: 'y-1', name: 'Zoë' });
});

it('accepts a token of 16,384 characters, and none that is longer', async () => {
  const create = (bytes: number): string => {
    const { length } = JSON.stringify({ ...facebook, fill: '' });
    return createFacebook({ ...facebook, fill: 'x'.repeat(bytes - length) });
  };
  const longest = create(12_255);
  expect(longest).toHaveLength(16_384);
  expect(await verify('facebook', longest)).toMatchObject({ id: '42' });
  await expect(verify('facebook', create(12_256))).rejects.toMatchObject({ code: 'malformed' });
});

const [header = '', payload = '', signature = ''] = createJwt(claims).split('.');
it.each<[string, VerifiablePortal, unknown, string, VerifyPortalTokenOptions?]>([
  ['another key', 'crazygames', createJwt(claims, { key: otherKey }), 'mismatch'],
  [
    'other claims',
    'crazygames',
    `${header}.${encode({ ...claims, userId: 'u-2' })}.${signature}`,
    'mismatch',
  ],
  ['no signature', 'crazygames', `${header}.${payload}.`, 'mismatch'],
  ['no algorithm', 'crazygames', `${encode({ alg: 'none' })}.${payload}.`, 'algorithm_not_allowed'],
  ['another algorithm', 'crazygames', createJwt(claims, { alg: 'HS256' }), 'algorithm_not_allowed'],
  ['a longer hash', 'crazygames', createJwt(claims, { alg: 'RS512' }), 'algorithm_not_allowed'],
  ['no start', 'crazygames', createJwt({ ...claims, iat: undefined }), 'expired'],
  ['another game', 'crazygames', createJwt({ ...claims, gameId: '1' }), 'wrong_game'],
  ['an end', 'crazygames', createJwt({ ...claims, exp: nowS }), 'expired'],
  ['no end', 'crazygames', createJwt({ ...claims, exp: undefined }), 'expired'],
  ['a start to come', 'crazygames', createJwt({ ...claims, iat: nowS + 61 }), 'expired'],
  ['no player', 'crazygames', createJwt({ ...claims, userId: 7 }), 'malformed'],
  ['no key', 'crazygames', createJwt(claims), 'keys_unavailable', { fetch: fail }],
  ['two parts', 'crazygames', createFacebook(facebook), 'malformed'],
  ['another secret', 'facebook', createFacebook(facebook, 'other'), 'mismatch'],
  ['its age', 'facebook', createFacebook({ ...facebook, issued_at: nowS - 3_600 }), 'expired'],
  ['its age as text', 'facebook', createFacebook({ ...facebook, issued_at: '9' }), 'expired'],
  ['no age', 'facebook', createFacebook({ ...facebook, issued_at: undefined }), 'expired'],
  ['no age', 'yandex', createYandex({ ...yandex, issuedAt: undefined }), 'expired'],
  ['three parts', 'facebook', `${createFacebook(facebook)}.${encode(facebook)}`, 'malformed'],
  ['another portal', 'facebook', createYandex(yandex), 'malformed'],
  ['no payload', 'yandex', `${hmac('').digest('base64')}.`, 'malformed'],
  ['nothing', 'yandex', '', 'malformed'],
  ['a number', 'yandex', 7, 'malformed'],
  ['an endless text', 'yandex', 'a'.repeat(20_000), 'malformed'],
])('rejects a token with %s', async (_, portal, token, code, more) => {
  const error: unknown = await verify(portal, token as string, more).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PortalTokenError);
  expect(error).toMatchObject({ code });
});

it.each([-3_599, 60])('accepts a token issued %i s from now', async (ageS) => {
  const token = createFacebook({ ...facebook, issued_at: nowS + ageS });
  await expect(verify('facebook', token)).resolves.toBeDefined();
});

it('says which option is missing', async () => {
  await expect(verifyPortalToken('crazygames', createJwt(claims))).rejects.toThrow(/`gameId`/);
  await expect(verifyPortalToken('yandex', createYandex(yandex))).rejects.toThrow(/`secret`/);
  await expect(verifyPortalToken('poki' as never, 'a.b')).rejects.toThrow(/facebook or yandex/);
});

async function fail(): Promise<Response> {
  throw new Error('offline');
}
