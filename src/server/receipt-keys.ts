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
 * Least time between two attempts to refetch a key set, in milliseconds. Without this limit, every receipt with a
 * nonexistent key id would trigger a request.
 */
const minRefetchAgeMs = 30_000;
/** How long a key set is used before it is refetched, in milliseconds. */
const maxAgeMs = 3_600_000;
/** Timeout for fetching a key set, in milliseconds. */
const fetchTimeoutMs = 5_000;

const importKey = async (jwk: JsonWebKey): Promise<CryptoKey> => {
  try {
    // `alg` is omitted, because runtimes disagree on its value.
    const key = { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '' };
    return await crypto.subtle.importKey('jwk', key, { name: 'Ed25519' }, false, ['verify']);
  } catch (cause) {
    throw new ReceiptError(
      'keys_unavailable',
      'The key that signed the receipt is not an Ed25519 public key in the key set: expected `x` of 32 bytes in base64url.',
      { cause },
    );
  }
};

/** Returns a function that finds keys in a key set. It rejects if the key that it finds is not one. */
export const createKeyFinder =
  ({ keys }: JwkSet): FindKey =>
  async (kid) => {
    const jwk = keys.find((key) => {
      const { kid: id, kty } = Object(key) as { kid?: unknown; kty?: unknown };
      return id === kid && kty === 'OKP';
    });
    return jwk && importKey(jwk);
  };

interface FetchedKeys {
  atMs: number;
  find: FindKey;
}

/** What is known of the key set at a URL. */
interface KeySource {
  /** The last set that could be fetched. */
  known?: FetchedKeys;
  /** The last attempt to fetch it, which may still be in progress or have failed. */
  attempt?: { atMs: number; result: Promise<FetchedKeys> } | undefined;
}

const sources = new Map<string, KeySource>();

/** Whether a time is over. A clock that has been set back says nothing about it, so it is. */
const isOver = (sinceMs: number, lengthMs: number, now: () => number): boolean =>
  !(now() >= sinceMs && now() <= sinceMs + lengthMs);

/**
 * Returns a function that finds keys in the key set at a URL. Key sets are cached for an hour. If a key id is unknown,
 * the set is refetched. Either happens at most every 30 seconds, also while the service is unavailable.
 */
export const createCachedKeyFinder =
  (url: string, now: () => number): FindKey =>
  async (kid) => {
    const source = sources.get(url) ?? {};
    sources.set(url, source);
    const known = source.known ?? (await refetch(source, url, now));
    // A key that can't be used may have been replaced.
    const key = await known.find(kid).catch(() => undefined);
    if (key && !isOver(known.atMs, maxAgeMs, now)) return key;
    return refetch(source, url, now).then(
      ({ find }) => find(kid),
      (error: unknown) => {
        // If the service is unavailable, keep using the cached key, so that receipts can still be verified.
        if (key) return key;
        throw error;
      },
    );
  };

/** Fetches a key set, or returns what the last attempt has fetched. */
function refetch(source: KeySource, url: string, now: () => number): Promise<FetchedKeys> {
  const { attempt } = source;
  if (attempt && !isOver(attempt.atMs, minRefetchAgeMs, now)) return attempt.result;
  const result = fetchKeys(url).then(
    (set) => (source.known = { atMs: now(), find: createKeyFinder(set) }),
  );
  source.attempt = { atMs: now(), result };
  result.catch(() => {
    // Without any keys, the next receipt is reason enough to try again.
    if (!source.known) source.attempt = undefined;
  });
  return result;
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
