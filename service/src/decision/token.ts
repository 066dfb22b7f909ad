import { timingSafeEqual } from 'node:crypto';
import type { Environment } from '../access/principal.ts';
import { createMac } from '../access/secret-box.ts';

/** A decision token's signed contents. */
export interface TokenClaims {
  decisionId: string;
  accountId: string;
  environment: Environment;
  placement: string;
  creativeId: string;
  userRef?: string;
  /** Unix milliseconds. */
  issuedAtMs: number;
  expiresAtMs: number;
}

/**
 * Signs and verifies decision tokens: `<version>~<claims>.<HMAC-SHA256 in base64url>`. Claims are separated by `~`, and the user
 * reference is percent-encoded. Therefore, tokens need no escaping in JSON or headers.
 */
export interface DecisionTokens {
  sign(claims: TokenClaims): string;
  /**
   * Returns the claims, or undefined if the signature is invalid.
   *
   * @throws UnsupportedTokenVersionError when a newer release signed the token in a version that this release cannot read.
   */
  verify(token: string): TokenClaims | undefined;
}

/** Thrown for a token that has a valid signature, but a version that only newer releases can read. */
export class UnsupportedTokenVersionError extends Error {
  constructor(number: number) {
    super(
      `The token is version ${number}; this release reads version ${version}. Upgrade this replica.`,
    );
    this.name = 'UnsupportedTokenVersionError';
  }
}

/**
 * During a rolling upgrade, processes from two releases receive each other's tokens. Therefore, one release learns to
 * read a new version, and the next release starts to issue it. A version that is no longer issued stays readable for one
 * more release, and for at least a week, because a placement's late window can last that long. Most changes need no new
 * version: optional claims have names, and unknown ones are skipped.
 */
const version = 1;

export function createDecisionTokens(key: string): DecisionTokens {
  const mac = createMac(key);
  return {
    sign(claims) {
      const body = writeClaims(claims);
      return `${body}.${mac(body)}`;
    },
    verify(token) {
      const dot = token.lastIndexOf('.');
      const body = token.slice(0, dot);
      const expectedMac = mac(body);
      // Compares the base64url strings rather than the decoded bytes, because different strings can decode to the same
      // bytes.
      const signature = Buffer.from(token.slice(dot + 1));
      if (dot < 1 || signature.length !== expectedMac.length) return undefined;
      if (!timingSafeEqual(signature, Buffer.from(expectedMac))) return undefined;
      return readClaims(body);
    },
  };
}

/** Serializes claims. Placement names and ids contain no `~`. */
function writeClaims(claims: TokenClaims): string {
  const { decisionId, accountId, environment, placement, creativeId, userRef } = claims;
  const ids = `${decisionId}~${accountId}~${environment}~${placement}~${creativeId}`;
  const required = `${version}~${ids}~${claims.issuedAtMs}~${claims.expiresAtMs}`;
  return userRef === undefined
    ? required
    : `${required}~u=${encodeURIComponent(userRef).replaceAll('~', '%7E')}`;
}

function readClaims(body: string): TokenClaims {
  const [number, decisionId = '', accountId = '', environment, placement = '', ...rest] =
    body.split('~');
  if (Number(number) !== version) throw new UnsupportedTokenVersionError(Number(number));
  const [creativeId = '', issuedAtMs, expiresAtMs, ...optionalClaims] = rest;
  const claims: TokenClaims = {
    decisionId,
    accountId,
    environment: environment === 'live' ? 'live' : 'sandbox',
    placement,
    creativeId,
    issuedAtMs: Number(issuedAtMs),
    expiresAtMs: Number(expiresAtMs),
  };
  const userRef = optionalClaims.find((claim) => claim.startsWith('u='));
  if (userRef !== undefined) claims.userRef = decodeURIComponent(userRef.slice(2));
  return claims;
}
