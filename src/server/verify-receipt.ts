import type { Reward } from '../../protocol/wire.ts';
import { type EvidenceOptions, describeEvidenceProblem, isEvidenceAccepted } from './evidence.ts';
import {
  type JwkSet,
  createCachedKeyFinder,
  createKeyFinder,
  ReceiptError,
} from './receipt-keys.ts';

/** A receipt’s verified claims. */
export interface RewardReceipt {
  /** The `jti` claim. Redeem each decision only once. */
  decisionId: string;
  /** The `sub` claim: your own id for the player. */
  userRef: string;
  placement: string;
  reward: Reward;
  /** The proof that the ad was watched: `verified`, or one of the `acceptEvidence` values. */
  evidence: string;
  environment: 'sandbox' | 'live';
  /** The `aud` claim: your account id, `acc_…`. */
  accountId: string;
  /** The `iss` claim: the service’s URL. */
  issuer: string;
  issuedAt: Date;
  expiresAt: Date;
}

export interface VerifyReceiptOptions extends EvidenceOptions {
  /** Your account id, `acc_…`. The `aud` claim must match it, because a service can have several accounts. */
  accountId: string;
  /** The expected `env` claim. Default: `live`, so that sandbox receipts are rejected. */
  environment?: 'sandbox' | 'live';
  /** The expected `iss` claim: the service’s public URL. Default: the origin of the key set’s URL. */
  issuer?: string;
  /** Allowed clock skew, in seconds. Default: 60. */
  toleranceS?: number;
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: () => number;
}

/**
 * Verifies the receipt for an earned reward and returns its claims. If `keys` is a URL, the key set is fetched and
 * cached; otherwise, no request is sent. A receipt can be presented more than once, so store each `decisionId` (see
 * {@link createUsedReceipts}).
 *
 * @param keys - the key set’s URL, `https://…/.well-known/jwks.json`, or the set itself.
 * @throws ReceiptError with a `code` that says why the receipt was rejected.
 * @example
 * const receipt = await verifyReceipt(text, 'https://play.example/.well-known/jwks.json', { accountId: 'acc_…' });
 * if (await used.claim(receipt)) await credit(receipt.userRef, receipt.reward);
 */
export async function verifyReceipt(
  receipt: string,
  keys: string | URL | JwkSet,
  options: VerifyReceiptOptions,
): Promise<RewardReceipt> {
  const { now = Date.now } = options;
  const isUrl = typeof keys === 'string' || keys instanceof URL;
  const [header, payload, signature, signedBytes] = splitReceipt(receipt);
  if (header['alg'] !== 'EdDSA' || header['typ'] !== 'reward-receipt+jwt') {
    throw new ReceiptError(
      'algorithm_not_allowed',
      `Expected a receipt signed with EdDSA, got alg ${formatValue(header['alg'])} and typ ${formatValue(header['typ'])}.`,
    );
  }
  const find = isUrl ? createCachedKeyFinder(String(keys), now) : createKeyFinder(keys);
  const kid = header['kid'];
  const key = typeof kid === 'string' ? await find(kid) : undefined;
  if (!key) {
    throw new ReceiptError(
      'key_unknown',
      `The key set has no key with the id ${formatValue(kid)}: another service issued the receipt, or the key set is outdated.`,
    );
  }
  if (!(await crypto.subtle.verify('Ed25519', key, signature, signedBytes))) {
    throw new ReceiptError('mismatch', 'The signature does not match the receipt.');
  }
  const issuer = options.issuer ?? (isUrl ? new URL(keys).origin : undefined);
  return checkClaims(payload, { ...options, now, ...(issuer === undefined ? {} : { issuer }) });
}

type Claims = Record<string, unknown>;

function splitReceipt(
  receipt: string,
): [Claims, Claims, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
  const parts = typeof receipt === 'string' ? receipt.split('.') : [];
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || !header || !payload || !signature || receipt.length > 8_192) {
    throw malformed(`three parts separated by dots, got ${formatValue(receipt)}`);
  }
  const signedBytes = new TextEncoder().encode(`${header}.${payload}`);
  return [readJson(header), readJson(payload), decodeBase64Url(signature), signedBytes];
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  // Each character stands for six bits, so no number of bytes leaves a single one over.
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1)
    throw malformed('base64url in each part');
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function readJson(text: string): Claims {
  try {
    const value: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64Url(text)),
    );
    if (typeof value === 'object' && value !== null) return value as Claims;
  } catch (cause) {
    throw malformed('JSON in its first two parts', cause);
  }
  throw malformed('objects in its first two parts');
}

const malformed = (expected: string, cause?: unknown): ReceiptError =>
  new ReceiptError('malformed', `Not a receipt: expected ${expected}.`, { cause });

const formatValue = (value: unknown): string =>
  (JSON.stringify(value) ?? String(value)).slice(0, 60);

type Expected = VerifyReceiptOptions & { now: () => number };

function checkClaims(claims: Claims, expected: Expected): RewardReceipt {
  const { accountId, environment = 'live', issuer, toleranceS = 60, now } = expected;
  const { iss, aud, sub, jti, env, reward, placement, iat, exp } = claims;
  const { evidence = 'verified' } = claims;
  const isComplete =
    [iss, aud, sub, jti, placement].every((claim) => typeof claim === 'string') &&
    isTime(iat) &&
    isTime(exp) &&
    isReward(reward);
  if (!isComplete)
    throw malformed('the claims iss, aud, sub, jti, env, reward, placement, iat, exp');
  const nowS = now() / 1_000;
  const issuedAtS = Number(iat);
  const expiresAtS = Number(exp);
  // The comparisons are negated, so that a NaN time rejects every receipt.
  if (!(nowS < expiresAtS + toleranceS)) {
    throw new ReceiptError('expired', `The receipt expired at ${formatTime(expiresAtS)}.`);
  }
  if (!(nowS >= issuedAtS - toleranceS)) {
    throw new ReceiptError(
      'not_yet_valid',
      `The receipt was issued at ${formatTime(issuedAtS)}, which is in the future: this server's clock is slow.`,
    );
  }
  expectClaim('wrong_issuer', 'issuer', iss, issuer ?? iss);
  expectClaim('wrong_account', 'account', aud, accountId);
  expectClaim('wrong_environment', 'environment', env, environment);
  if (!isEvidenceAccepted(evidence, expected))
    throw new ReceiptError('evidence_not_accepted', describeEvidenceProblem(evidence));
  return {
    decisionId: String(jti),
    userRef: String(sub),
    placement: String(placement),
    reward: reward as Reward,
    evidence,
    environment,
    accountId,
    issuer: String(iss),
    issuedAt: new Date(issuedAtS * 1_000),
    expiresAt: new Date(expiresAtS * 1_000),
  };
}

function expectClaim(
  code: 'wrong_issuer' | 'wrong_account' | 'wrong_environment',
  name: string,
  value: unknown,
  expected: unknown,
): void {
  if (value === expected) return;
  throw new ReceiptError(
    code,
    `Expected the ${name} ${formatValue(expected)}, got ${formatValue(value)}.`,
  );
}

/** Whether a claim is a time, in seconds, that a `Date` can hold. */
const isTime = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(new Date(value * 1_000).getTime());

const formatTime = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function isReward(value: unknown): value is Reward {
  if (typeof value !== 'object' || value === null) return false;
  const { type, amount } = value as Claims;
  return typeof type === 'string' && typeof amount === 'number' && Number.isFinite(amount);
}

/** Records which receipts or webhooks have been used, until they expire. */
export interface UsedReceipts {
  /**
   * Returns true the first time it is called for an id, and false after that. Credit the reward only if it returns
   * true.
   */
  claim(receipt: Pick<RewardReceipt, 'decisionId' | 'expiresAt'>): boolean;
  /** Whether the `jti` (the decision id) has been used. */
  seen(jti: string): boolean;
}

export interface UsedReceiptsOptions {
  /**
   * Maximum number of ids. When it is reached, `claim` throws: if an id were evicted, its reward could be credited
   * twice. Default: 1,000,000.
   */
  capacity?: number;
  /** Returns the current time in milliseconds since the Unix epoch. Default: `Date.now`. */
  now?: () => number;
}

/**
 * Records used receipts in one process’s memory, for tests and for game servers that do not persist balances. In
 * production, store the decision id in a unique database column, in the same transaction that credits the reward.
 *
 * @example
 * const used = createUsedReceipts();
 * const receipt = await verifyReceipt(text, keys, { accountId });
 * if (used.claim(receipt)) credit(receipt.userRef, receipt.reward);
 */
export function createUsedReceipts({
  capacity = 1_000_000,
  now = Date.now,
}: UsedReceiptsOptions = {}): UsedReceipts {
  const expiries = new Map<string, number>();
  const removeExpired = (): void => {
    for (const [id, expiry] of expiries) if (expiry <= now()) expiries.delete(id);
  };
  return {
    claim({ decisionId, expiresAt }) {
      if (expiries.has(decisionId)) return false;
      if (expiries.size >= capacity) removeExpired();
      if (expiries.size >= capacity) {
        throw new RangeError(
          `The limit of ${capacity} used receipts has been reached; increase the capacity.`,
        );
      }
      // Kept for one more day, because verifyReceipt accepts receipts for `toleranceS` after they expire.
      expiries.set(decisionId, expiresAt.getTime() + 86_400_000);
      return true;
    },
    seen: (jti) => expiries.has(jti),
  };
}
