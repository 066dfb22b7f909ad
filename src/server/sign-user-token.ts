/** Options for `signUserToken()`. */
export interface SignUserTokenOptions {
  /** The token’s lifetime in seconds, from 1 to 86,400. Default: 3,600. */
  lifetimeS?: number;
  /**
   * Whether the player sees no ads, for example as a supporter of the game. `true` ends interstitials and banners;
   * rewarded ads stay, because players choose to watch them. An array of formats ends exactly those. Default: `false`.
   */
  adFree?: boolean | readonly ('rewarded' | 'interstitial' | 'banner')[];
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: () => number;
}

const formats = ['rewarded', 'interstitial', 'banner'];
const isFormat = (value: unknown): boolean => formats.includes(value as string);

const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/**
 * Signs a user token on your server. The game passes it to the SDK as `userToken` to prove who the player is.
 *
 * @param userRef - your own id for the player: 1 to 128 printable ASCII characters.
 * @param secret - the environment’s `utk_…` secret, from `POST /v1/user_token_secrets`.
 * @throws TypeError if the secret is not a user token secret, or `adFree` is neither a boolean nor a list of formats.
 * @throws RangeError if the user reference or the lifetime is out of range.
 * @example
 * const userToken = await signUserToken(session.userId, process.env.USER_TOKEN_SECRET);
 */
export async function signUserToken(
  userRef: string,
  secret: string,
  { adFree = false, lifetimeS = 3_600, now = Date.now }: SignUserTokenOptions = {},
): Promise<string> {
  if (typeof secret !== 'string' || !/^utk_(sandbox|live)_\S+$/.test(secret)) {
    throw new TypeError(
      'Expected a user token secret (utk_…); API keys and webhook secrets cannot sign user tokens.',
    );
  }
  if (typeof userRef !== 'string' || !/^[\x20-\x7e]{1,128}$/.test(userRef)) {
    throw new RangeError('Expected a user reference of 1 to 128 printable ASCII characters.');
  }
  if (!(lifetimeS >= 1 && lifetimeS <= 86_400)) {
    throw new RangeError(`Expected a lifetime from 1 to 86400 seconds, got ${lifetimeS}.`);
  }
  // A value from a database, such as `null`, must not free everybody.
  if (typeof adFree !== 'boolean' && !(Array.isArray(adFree) && adFree.every(isFormat))) {
    throw new TypeError(
      `Expected \`adFree\` to be a boolean or a list of formats (${formats.join(', ')}), got ${JSON.stringify(adFree)}.`,
    );
  }
  const issuedAtS = Math.floor(now() / 1_000);
  const claims = {
    sub: userRef,
    iat: issuedAtS,
    exp: issuedAtS + Math.floor(lifetimeS),
    ...(adFree !== false && { ad_free: true }),
    ...(Array.isArray(adFree) && { ad_free_formats: adFree }),
  };
  const body = `${toBase64Url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))}.${toBase64Url(JSON.stringify(claims))}`;
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const mac = new Uint8Array(
    await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(body)),
  );
  return `${body}.${toBase64Url(String.fromCharCode(...mac))}`;
}

/** @param binary - a string with one character per byte. */
const toBase64Url = (binary: string): string =>
  btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
