import type { Reward } from '../../protocol/wire.ts';
import { type JwkSet, keysAt, keysOf, ReceiptError } from './receipt-keys.ts';

/** What a receipt says, in words; every claim has been checked. */
export interface RewardReceipt {
  /** `jti`: redeem each decision once. */
  decisionId: string;
  /** `sub`: your name for the user, byte for byte. */
  userRef: string;
  placement: string;
  reward: Reward;
  environment: 'sandbox' | 'live';
  /** `aud`: your account, `acc_…`. */
  accountId: string;
  /** `iss`: the address of the service. */
  issuer: string;
  issuedAt: Date;
  expiresAt: Date;
}

export interface VerifyReceiptOptions {
  /** `aud` must be your account, `acc_…`: a service may have other customers than you. */
  accountId: string;
  /** `env`. Default `live`, so that a receipt from the sandbox buys nothing. */
  environment?: 'sandbox' | 'live';
  /** `iss`: the public address of the service. Default: the origin of the key set's address. */
  issuer?: string;
  /** By how much clocks may differ, in seconds. Default 60. */
  toleranceS?: number;
  /** The present, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * Checks the receipt of an earned reward without asking the service, and gives its claims. A receipt
 * proves that a reward was earned, not that it was never redeemed: keep each `decisionId` (see
 * {@link createUsedReceipts}).
 *
 * @param keys - the address of the key set, `https://…/.well-known/jwks.json`, or the set itself.
 * @throws ReceiptError with a `code` for each reason to refuse.
 * @example
 * const receipt = await verifyReceipt(text, 'https://ads.example/.well-known/jwks.json', { accountId: 'acc_…' });
 * if (await used.claim(receipt)) await credit(receipt.userRef, receipt.reward);
 */
export async function verifyReceipt(
  receipt: string,
  keys: string | URL | JwkSet,
  options: VerifyReceiptOptions,
): Promise<RewardReceipt> {
  const { now = Date.now } = options;
  const fromAddress = typeof keys === 'string' || keys instanceof URL;
  const [header, payload, signature, signed] = split(receipt);
  if (header['alg'] !== 'EdDSA' || header['typ'] !== 'reward-receipt+jwt') {
    throw new ReceiptError(
      'algorithm_not_allowed',
      `Expected a receipt signed with EdDSA, got alg ${show(header['alg'])} and typ ${show(header['typ'])}.`,
    );
  }
  const find = fromAddress ? keysAt(String(keys), now) : keysOf(keys);
  const kid = header['kid'];
  const key = typeof kid === 'string' ? await find(kid) : undefined;
  if (!key) {
    throw new ReceiptError(
      'key_unknown',
      `No key of the service has the id ${show(kid)}: the receipt is another service’s, or the key set is old.`,
    );
  }
  if (!(await crypto.subtle.verify('Ed25519', key, signature, signed))) {
    throw new ReceiptError('mismatch', 'The signature does not belong to this receipt.');
  }
  const issuer = options.issuer ?? (fromAddress ? new URL(keys).origin : undefined);
  return checkClaims(payload, { ...options, now, ...(issuer === undefined ? {} : { issuer }) });
}

type Claims = Record<string, unknown>;

function split(
  receipt: string,
): [Claims, Claims, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
  const parts = typeof receipt === 'string' ? receipt.split('.') : [];
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || !header || !payload || !signature || receipt.length > 8_192) {
    throw malformed(`three parts with dots between, got ${show(receipt)}`);
  }
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  return [readJson(header), readJson(payload), decode(signature), signed];
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw malformed('base64url in each part');
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function readJson(text: string): Claims {
  try {
    const value: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(decode(text)),
    );
    if (typeof value === 'object' && value !== null) return value as Claims;
  } catch (cause) {
    throw malformed('JSON in its first two parts', cause);
  }
  throw malformed('objects in its first two parts');
}

const malformed = (expected: string, cause?: unknown): ReceiptError =>
  new ReceiptError('malformed', `This is no receipt: expected ${expected}.`, { cause });

const show = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 60);

type Expected = VerifyReceiptOptions & { now: () => number };

function checkClaims(claims: Claims, expected: Expected): RewardReceipt {
  const { accountId, environment = 'live', issuer, toleranceS = 60, now } = expected;
  const { iss, aud, sub, jti, env, reward, placement, iat, exp } = claims;
  const complete =
    [iss, aud, sub, jti, placement].every((claim) => typeof claim === 'string') &&
    Number.isFinite(iat) &&
    Number.isFinite(exp) &&
    isReward(reward);
  if (!complete) throw malformed('the claims iss, aud, sub, jti, env, reward, placement, iat, exp');
  const nowS = now() / 1_000;
  const issuedAtS = Number(iat);
  const expiresAtS = Number(exp);
  // Written so that a time that is not a number refuses everything.
  if (!(nowS < expiresAtS + toleranceS)) {
    throw new ReceiptError('expired', `The receipt expired at ${toText(expiresAtS)}.`);
  }
  if (!(nowS >= issuedAtS - toleranceS)) {
    throw new ReceiptError(
      'not_yet_valid',
      `The receipt is from ${toText(issuedAtS)}, which is in the future: the clock of this server is slow.`,
    );
  }
  refuseOther('wrong_issuer', 'comes from', iss, issuer ?? iss);
  refuseOther('wrong_account', 'belongs to the account', aud, accountId);
  refuseOther('wrong_environment', 'belongs to', env, environment);
  return {
    decisionId: String(jti),
    userRef: String(sub),
    placement: String(placement),
    reward: reward as Reward,
    environment,
    accountId,
    issuer: String(iss),
    issuedAt: new Date(issuedAtS * 1_000),
    expiresAt: new Date(expiresAtS * 1_000),
  };
}

function refuseOther(
  code: 'wrong_issuer' | 'wrong_account' | 'wrong_environment',
  words: string,
  got: unknown,
  expected: unknown,
): void {
  if (got === expected) return;
  throw new ReceiptError(code, `The receipt ${words} ${show(got)}; expected ${show(expected)}.`);
}

const toText = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function isReward(value: unknown): value is Reward {
  if (typeof value !== 'object' || value === null) return false;
  const { type, amount } = value as Claims;
  return typeof type === 'string' && typeof amount === 'number' && Number.isFinite(amount);
}
