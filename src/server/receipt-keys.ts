/** Why a receipt was refused. The list is closed; a new reason is a new minor version. */
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
  | 'wrong_environment';

/** A receipt that must not be redeemed; `keys_unavailable` alone can be otherwise a moment later. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError';
  readonly code: ReceiptErrorCode;

  constructor(code: ReceiptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The keys of the service, as `/.well-known/jwks.json` shows them. */
export interface JwkSet {
  keys: readonly JsonWebKey[];
}

/** Hands back the key with this id; undefined when there is none. */
export type FindKey = (kid: string) => Promise<CryptoKey | undefined>;

/** Somebody who sends receipts with invented key ids must not make us ask the service for each. */
const askAtMostEveryMs = 30_000;
const keepMs = 3_600_000;
const timeoutMs = 5_000;

const importKey = async (jwk: JsonWebKey): Promise<CryptoKey> =>
  crypto.subtle.importKey(
    'jwk',
    // Only what makes the key: runtimes differ in which `alg` they accept.
    { kty: 'OKP', crv: 'Ed25519', x: jwk.x ?? '' },
    { name: 'Ed25519' },
    false,
    ['verify'],
  );

/** Looks keys up in a set that the caller has. */
export const keysOf =
  ({ keys }: JwkSet): FindKey =>
  async (kid) => {
    const jwk = keys.find((key) => 'kid' in key && key.kid === kid && key.kty === 'OKP');
    return jwk && importKey(jwk);
  };

interface Fetched {
  atMs: number;
  find: FindKey;
}

const fetched = new Map<string, Promise<Fetched>>();

/** Looks keys up at an address. They are kept for an hour; an unknown key id makes it look again. */
export const keysAt =
  (url: string, now: () => number): FindKey =>
  async (kid) => {
    const known = await (fetched.get(url) ?? load(url, now));
    const key = await known.find(kid);
    const ageMs = now() - known.atMs;
    if (key === undefined) return ageMs > askAtMostEveryMs ? (await load(url, now)).find(kid) : key;
    if (ageMs <= keepMs) return key;
    // A service that cannot be asked does not make its receipts worthless.
    return load(url, now).then(
      (fresh) => fresh.find(kid),
      () => key,
    );
  };

function load(url: string, now: () => number): Promise<Fetched> {
  const loading = read(url).then((set) => ({ atMs: now(), find: keysOf(set) }));
  const before = fetched.get(url);
  fetched.set(url, loading);
  loading.catch(() => {
    // What was known before is better than nothing.
    if (before) fetched.set(url, before);
    else fetched.delete(url);
  });
  return loading;
}

async function read(url: string): Promise<JwkSet> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const set: unknown = await answer.json();
    if (typeof set === 'object' && set !== null && 'keys' in set && Array.isArray(set.keys)) {
      return { keys: set.keys as JsonWebKey[] };
    }
    throw new Error('it answered something else than a key set');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ReceiptError('keys_unavailable', `The keys at ${url} could not be read: ${why}.`, {
      cause,
    });
  }
}
