import { timingSafeEqual } from 'node:crypto';
import type { Environment } from '../key/key-text.ts';
import { createMac } from '../key/service-secrets.ts';

/** The signed content of a decision token. */
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
 * Signs and verifies decision tokens: `<claims>.<HMAC-SHA256 in base64url>`. Claims are separated by `~`, and the
 * user reference is percent-encoded, so that a token needs no escaping in JSON and headers.
 */
export interface DecisionTokens {
  sign(claims: TokenClaims): string;
  /**
   * Returns undefined if the signature is not valid.
   *
   * @throws NewerTokenError when a newer release signed the token in a version unknown to this one.
   */
  verify(token: string): TokenClaims | undefined;
}

/** A valid token in a version that only newer releases can read. */
export class NewerTokenError extends Error {
  constructor(version: number) {
    super(`The token has version ${version}; this process reads versions up to ${newest}.`);
    this.name = 'NewerTokenError';
  }
}

/** A serialization of the claims. */
interface Version {
  write(claims: TokenClaims): string;
  read(body: string): TokenClaims;
}

/**
 * During a rolling upgrade, processes receive each other's tokens. Therefore a new version is read by one release and
 * issued by the next. A version that is no longer issued is read for one more release, and for at least a week, the
 * longest late window of a placement.
 */
const versions: Readonly<Record<number, Version>> = {
  1: { write: writePositional, read: readPositional },
  2: { write: writeNamed, read: readNamed },
};
const newest = 2;

/** The previous release can read this version. */
const issued = 1;

/** @param version The version to sign; other than the default only in tests. */
export function createDecisionTokens(key: string, version: number = issued): DecisionTokens {
  const { write } = versionOf(version);
  const mac = createMac(key);
  return {
    sign(claims) {
      const body = write(claims);
      return `${body}.${mac(body)}`;
    },
    verify(token) {
      const dot = token.lastIndexOf('.');
      const body = token.slice(0, dot);
      const expected = mac(body);
      // Compare texts, not bytes: in base64url, several texts can decode to the same bytes.
      const given = Buffer.from(token.slice(dot + 1));
      if (dot < 1 || given.length !== expected.length) return undefined;
      if (!timingSafeEqual(given, Buffer.from(expected))) return undefined;
      // Version 1 has no version number: it begins with a decision id, which never begins with a digit.
      const [, number] = /^(\d+)~/.exec(body) ?? [];
      return versionOf(number === undefined ? 1 : Number(number)).read(body);
    },
  };
}

function versionOf(number: number): Version {
  const version = versions[number];
  if (version === undefined) throw new NewerTokenError(number);
  return version;
}

/** The required claims, in order. Placement names and ids contain no `~`. */
const writeRequired = (claims: TokenClaims): string =>
  `${claims.decisionId}~${claims.accountId}~${claims.environment}~${claims.placement}` +
  `~${claims.creativeId}~${claims.issuedAtMs}~${claims.expiresAtMs}`;

/** Reads the required claims; `rest` has the remaining texts. */
function readRequired(texts: readonly string[]): [claims: TokenClaims, rest: string[]] {
  const [decisionId = '', accountId = '', environment, placement = '', creativeId = ''] = texts;
  const claims: TokenClaims = {
    decisionId,
    accountId,
    environment: environment === 'live' ? 'live' : 'sandbox',
    placement,
    creativeId,
    issuedAtMs: Number(texts[5]),
    expiresAtMs: Number(texts[6]),
  };
  return [claims, texts.slice(7)];
}

/** Version 1: the optional user reference comes last and may contain a `~`. */
function writePositional(claims: TokenClaims): string {
  const { userRef } = claims;
  const required = writeRequired(claims);
  return userRef === undefined ? required : `${required}~${encodeURIComponent(userRef)}`;
}

function readPositional(body: string): TokenClaims {
  const [claims, userRef] = readRequired(body.split('~'));
  return userRef.length === 0
    ? claims
    : { ...claims, userRef: decodeURIComponent(userRef.join('~')) };
}

/** Version 2: optional claims are named, so that older releases skip unknown ones. */
function writeNamed(claims: TokenClaims): string {
  const { userRef } = claims;
  const required = `2~${writeRequired(claims)}`;
  return userRef === undefined
    ? required
    : `${required}~u=${encodeURIComponent(userRef).replaceAll('~', '%7E')}`;
}

function readNamed(body: string): TokenClaims {
  const [claims, named] = readRequired(body.split('~').slice(1));
  const userRef = named.find((text) => text.startsWith('u='));
  return userRef === undefined
    ? claims
    : { ...claims, userRef: decodeURIComponent(userRef.slice(2)) };
}
