/** Why a receipt was rejected. New codes are added only in minor versions. */
export type ReceiptErrorCode =
  | 'malformed'
  | 'algorithm_not_allowed'
  | 'key_unknown'
  | 'keys_unavailable'
  | 'mismatch'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_issuer'
  | 'wrong_account'
  | 'wrong_environment'
  | 'evidence_not_accepted';

/** Thrown for a receipt that must not be redeemed. Only `keys_unavailable` is temporary. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  readonly code: ReceiptErrorCode;

  constructor(code: ReceiptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The service's public keys, as served at `/.well-known/jwks.json`. */
export interface JwkSet {
  keys: readonly JsonWebKey[];
}

/** Returns the key with this id, or undefined if there is none. */
export type FindKey = (kid: string) => Promise<CryptoKey | undefined>;

/**
 * Minimum age at which a key set may be refetched because of an unknown key id, in milliseconds. Without this limit,
 * every receipt with a nonexistent key id would trigger a request.
 */
const minRefetchAgeMs = 30_000;
/** How long a key set is used before it is refetched, in milliseconds. */
const maxAgeMs = 3_600_000;
/** Timeout for fetching a key set, in milliseconds. */
const fetchTimeoutMs = 5_000;

const importKey = async (jwk: JsonWebKey): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'jwk',
    // `alg` is omitted, because runtimes disagree on its value.
    { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '' },
    { name: 'Ed25519' },
    false,
    ['verify'],
  );

/** Returns a function that finds keys in a key set. */
export const createKeyFinder =
  ({ keys }: JwkSet): FindKey =>
  async (kid) => {
    const jwk = keys.find((key) => 'kid' in key && key.kid === kid && key.kty === 'OKP');
    return jwk && importKey(jwk);
  };

interface FetchedKeys {
  atMs: number;
  find: FindKey;
}

const keySets = new Map<string, Promise<FetchedKeys>>();

/**
 * Returns a function that finds keys in the key set at a URL. Key sets are cached for an hour. If a key id is unknown,
 * the set is refetched, but at most every 30 seconds.
 */
export const createCachedKeyFinder =
  (url: string, now: () => number): FindKey =>
  async (kid) => {
    const cachedKeys = await (keySets.get(url) ?? load(url, now));
    const key = await cachedKeys.find(kid);
    const ageMs = now() - cachedKeys.atMs;
    if (key === undefined) return ageMs > minRefetchAgeMs ? (await load(url, now)).find(kid) : key;
    if (ageMs <= maxAgeMs) return key;
    // If the service is unavailable, keep using the cached key, so that receipts can still be verified.
    return load(url, now).then(
      (newKeys) => newKeys.find(kid),
      () => key,
    );
  };

function load(url: string, now: () => number): Promise<FetchedKeys> {
  const loading = fetchKeys(url).then((set) => ({ atMs: now(), find: createKeyFinder(set) }));
  const previous = keySets.get(url);
  keySets.set(url, loading);
  loading.catch(() => {
    // Keep using the previous set.
    if (previous) keySets.set(url, previous);
    else keySets.delete(url);
  });
  return loading;
}

async function fetchKeys(url: string): Promise<JwkSet> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(fetchTimeoutMs),
      redirect: 'error',
    });
    if (!response.ok) throw new Error(`the server responded with status ${response.status}`);
    const set: unknown = await response.json();
    if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) {
      return { keys: set.keys as JsonWebKey[] };
    }
    throw new Error('the response is not a JWK set');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ReceiptError('keys_unavailable', `Could not fetch the keys at ${url}: ${reason}.`, {
      cause,
    });
  }
}
