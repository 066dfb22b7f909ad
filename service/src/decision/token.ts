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
 * Signs and verifies decision tokens: `<claims>.<HMAC-SHA256 in base64url>`. Claims are separated by `~`, and the user
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
  constructor(version: number) {
    super(
      `The token is version ${version}; this release supports up to version ${newestVersion}. Upgrade this replica.`,
    );
    this.name = 'UnsupportedTokenVersionError';
  }
}

/** Defines how one token version formats its claims. */
interface Version {
  write(claims: TokenClaims): string;
  read(body: string): TokenClaims;
}

/**
 * During a rolling upgrade, processes from two releases receive each other's tokens. Therefore, one release adds
 * support for reading a new version, and the next release starts to issue it. A version that is no longer issued stays
 * readable for one more release. It also stays readable for at least a week, because a placement's late window can last
 * that long.
 */
const versions: Readonly<Record<number, Version>> = {
  1: { write: writePositionalClaims, read: readPositionalClaims },
  2: { write: writeNamedClaims, read: readNamedClaims },
};
const newestVersion = 2;

/** The version that this release issues. The previous release can read it too. */
const issuedVersion = 1;

/** @param version the version to issue; only tests override the default */
export function createDecisionTokens(key: string, version: number = issuedVersion): DecisionTokens {
  const { write } = findVersion(version);
  const mac = createMac(key);
  return {
    sign(claims) {
      const body = write(claims);
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
      // Version 1 has no version prefix: it starts with a decision id, which never starts with a digit.
      const [, number] = /^(\d+)~/.exec(body) ?? [];
      return findVersion(number === undefined ? 1 : Number(number)).read(body);
    },
  };
}

function findVersion(number: number): Version {
  const version = versions[number];
  if (version === undefined) throw new UnsupportedTokenVersionError(number);
  return version;
}

/** Serializes the required claims. Placement names and ids contain no `~`. */
const writeRequiredClaims = (claims: TokenClaims): string =>
  `${claims.decisionId}~${claims.accountId}~${claims.environment}~${claims.placement}` +
  `~${claims.creativeId}~${claims.issuedAtMs}~${claims.expiresAtMs}`;

/** Parses the required claims. Also returns the segments that contain the optional claims. */
function readRequiredClaims(
  segments: readonly string[],
): [claims: TokenClaims, optionalSegments: string[]] {
  const [decisionId = '', accountId = '', environment, placement = '', creativeId = ''] = segments;
  const claims: TokenClaims = {
    decisionId,
    accountId,
    environment: environment === 'live' ? 'live' : 'sandbox',
    placement,
    creativeId,
    issuedAtMs: Number(segments[5]),
    expiresAtMs: Number(segments[6]),
  };
  return [claims, segments.slice(7)];
}

/** Version 1: the optional user reference comes last and may contain a `~`. */
function writePositionalClaims(claims: TokenClaims): string {
  const { userRef } = claims;
  const requiredClaims = writeRequiredClaims(claims);
  return userRef === undefined
    ? requiredClaims
    : `${requiredClaims}~${encodeURIComponent(userRef)}`;
}

function readPositionalClaims(body: string): TokenClaims {
  const [claims, userRefParts] = readRequiredClaims(body.split('~'));
  if (userRefParts.length > 0) claims.userRef = decodeURIComponent(userRefParts.join('~'));
  return claims;
}

/** Version 2: optional claims have names, so that older releases can skip unknown claims. */
function writeNamedClaims(claims: TokenClaims): string {
  const { userRef } = claims;
  const requiredClaims = `2~${writeRequiredClaims(claims)}`;
  return userRef === undefined
    ? requiredClaims
    : `${requiredClaims}~u=${encodeURIComponent(userRef).replaceAll('~', '%7E')}`;
}

function readNamedClaims(body: string): TokenClaims {
  const [claims, optionalSegments] = readRequiredClaims(body.split('~').slice(1));
  const userRef = optionalSegments.find((segment) => segment.startsWith('u='));
  if (userRef !== undefined) claims.userRef = decodeURIComponent(userRef.slice(2));
  return claims;
}
