/** A portal whose player tokens can be verified. */
export type VerifiablePortal = 'crazygames' | 'facebook' | 'yandex';

/** Why a token was rejected. New codes are added only in minor versions. */
export type PortalTokenErrorCode =
  | 'malformed'
  | 'algorithm_not_allowed'
  | 'mismatch'
  | 'expired'
  | 'wrong_game'
  | 'keys_unavailable';

/** Thrown for a token that doesn’t prove who the player is. Only `keys_unavailable` is temporary. */
export class PortalTokenError extends Error {
  override readonly name = 'PortalTokenError';
  readonly code: PortalTokenErrorCode;

  constructor(code: PortalTokenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a portal’s token says about a player. */
export interface PortalPlayer {
  /** The portal’s id for the player. It is unique only within the portal. */
  id: string;
  name?: string;
}

/** Options for `verifyPortalToken()`. */
export interface VerifyPortalTokenOptions {
  /** CrazyGames: your game’s id there. Without it, a token of any other game would be accepted. */
  gameId?: string;
  /** Facebook: the app secret. Yandex: the game’s secret key. */
  secret?: string;
  /** How old a token may be, in seconds. CrazyGames’ tokens also expire by themselves. Default: 3,600. */
  maxAgeS?: number;
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: () => number;
  /** CrazyGames: replaces `fetch` for its public key. */
  fetch?: typeof globalThis.fetch;
}

type Claims = Record<string, unknown>;

const keyUrl = 'https://sdk.crazygames.com/publicKey.json';
/** How far a portal’s clock may be ahead of ours, in seconds. */
const clockSkewS = 60;

/**
 * Verifies the token that `ads.portal.playerToken()` has returned on a player’s device, and returns whose it is. It proves
 * who is playing, but not that an ad was watched.
 *
 * @throws PortalTokenError for a token that doesn’t prove this.
 * @throws TypeError if the portal’s secret or game id is missing.
 * @example
 * const { id } = await verifyPortalToken('crazygames', token, { gameId: '20267' });
 */
export async function verifyPortalToken(
  portal: VerifiablePortal,
  token: string,
  options: VerifyPortalTokenOptions = {},
): Promise<PortalPlayer> {
  const parts = typeof token === 'string' && token.length <= 16_384 ? token.split('.') : [];
  const { maxAgeS = 3_600, now = Date.now } = options;
  const nowS = now() / 1_000;
  const expireUnless = (isFresh: boolean): void => {
    if (!isFresh) throw new PortalTokenError('expired', 'The token is not valid at this time.');
  };

  if (portal === 'crazygames') {
    const claims = await verifyJwt(parts, options);
    const { exp, gameId, iat, userId, username } = claims;
    if (gameId !== options.gameId)
      throw new PortalTokenError(
        'wrong_game',
        `Expected a token for the game ${options.gameId}, got one for ${String(gameId).slice(0, 40)}.`,
      );
    expireUnless(Number(exp) > nowS && isRecent(iat, nowS, maxAgeS));
    return toPlayer(userId, username);
  }
  if (portal !== 'facebook' && portal !== 'yandex')
    throw new TypeError(
      `Expected the portal crazygames, facebook or yandex, got ${String(portal)}.`,
    );
  const claims = await verifyHmac(portal, parts, options);
  const data = (claims['data'] ?? {}) as Claims;
  expireUnless(isRecent(claims['issued_at'] ?? claims['issuedAt'], nowS, maxAgeS));
  return portal === 'facebook'
    ? toPlayer(claims['player_id'], undefined)
    : toPlayer(data['uniqueID'], data['publicName']);
}

const isRecent = (issuedAtS: unknown, nowS: number, maxAgeS: number): boolean =>
  typeof issuedAtS === 'number' && issuedAtS <= nowS + clockSkewS && issuedAtS > nowS - maxAgeS;

function toPlayer(id: unknown, name: unknown): PortalPlayer {
  if (typeof id !== 'string' || id === '')
    throw new PortalTokenError('malformed', 'The token names no player.');
  return { id, ...(typeof name === 'string' && name !== '' && { name }) };
}

/** Verifies `header.payload.signature`, signed with CrazyGames' key (RS256). */
async function verifyJwt(parts: string[], options: VerifyPortalTokenOptions): Promise<Claims> {
  if (options.gameId === undefined)
    throw new TypeError('Pass your game’s id at CrazyGames as `gameId`.');
  const [header = '', payload = '', signature = ''] = parts;
  if (parts.length !== 3) throw malformed();
  const { alg } = parseJson(header);
  if (alg !== 'RS256')
    throw new PortalTokenError(
      'algorithm_not_allowed',
      `Expected the algorithm RS256, got ${String(alg).slice(0, 20)}.`,
    );
  const key = await fetchKey(options.fetch ?? globalThis.fetch);
  const isValid = await crypto.subtle.verify(
    'RSASSA-PKCS1-v1_5',
    key,
    decode(signature),
    toBytes(`${header}.${payload}`),
  );
  if (!isValid) throw mismatch();
  return parseJson(payload);
}

/** Verifies `signature.payload`, signed with the game's secret (HMAC-SHA256). */
async function verifyHmac(
  portal: string,
  parts: string[],
  { secret }: VerifyPortalTokenOptions,
): Promise<Claims> {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError(`Pass your game’s secret at ${portal} as \`secret\`.`);
  const [signature = '', payload = ''] = parts;
  if (parts.length !== 2) throw malformed();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', toBytes(secret), algorithm, false, ['verify']);
  const mac = decode(signature);
  const claims = parseJson(payload);
  // Facebook signs the text as it is, Yandex what it encodes. Both take the secret.
  const isValid =
    (await crypto.subtle.verify('HMAC', key, mac, toBytes(payload))) ||
    (await crypto.subtle.verify('HMAC', key, mac, decode(payload)));
  if (!isValid) throw mismatch();
  return claims;
}

const malformed = (): PortalTokenError =>
  new PortalTokenError('malformed', 'This is not a portal’s player token.');
const mismatch = (): PortalTokenError =>
  new PortalTokenError('mismatch', 'The token’s signature is wrong. Is this its portal and game?');

const toBytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Decodes base64 or base64url. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  } catch {
    throw malformed();
  }
}

function parseJson(text: string): Claims {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(decode(text)));
    if (typeof value === 'object' && value !== null) return value as Claims;
  } catch {
    // Not JSON.
  }
  throw malformed();
}

/** Fetches CrazyGames' key each time, because it may change. */
async function fetchKey(fetch: typeof globalThis.fetch): Promise<CryptoKey> {
  try {
    const response = await fetch(keyUrl, { signal: AbortSignal.timeout(5_000) });
    const { publicKey } = (await response.json()) as { publicKey?: unknown };
    const [, kind, text = ''] =
      /-----BEGIN (RSA )?PUBLIC KEY-----([^-]+)-----END/.exec(String(publicKey)) ?? [];
    const bytes = decode(text.replaceAll(/\s/g, ''));
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const spki = kind === undefined ? bytes : wrapKey(bytes);
    return await crypto.subtle.importKey('spki', spki, algorithm, false, ['verify']);
  } catch (cause) {
    throw new PortalTokenError('keys_unavailable', `Could not fetch the key at ${keyUrl}.`, {
      cause,
    });
  }
}

/** Wraps a key in the format PKCS #1 as SubjectPublicKeyInfo, which Web Crypto needs. */
function wrapKey(key: Uint8Array): Uint8Array<ArrayBuffer> {
  const rsa = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
  const bits = [3].concat(encodeLength(key.length + 1), 0, Array.from(key));
  return Uint8Array.from([0x30].concat(encodeLength(rsa.length + bits.length), rsa, bits));
}

const encodeLength = (length: number): number[] =>
  length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
