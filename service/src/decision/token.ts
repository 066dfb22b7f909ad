import { timingSafeEqual } from 'node:crypto';
import type { Environment } from '../key/key-text.ts';
import { hmac } from '../key/service-secrets.ts';

/** What a decision token says, and the service trusts. */
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
 * Signs and checks decision tokens: `<claims>.<HMAC-SHA256 as base64url>`. The claims are separated by `~`,
 * and the user's name is percent-encoded, so that a token needs no escaping in JSON and headers.
 */
export interface DecisionTokens {
  sign(claims: TokenClaims): string;
  /**
   * Undefined when the token was not signed by this service, or was changed.
   *
   * @throws NewerTokenError when it was signed by a release that knows more versions than this one.
   */
  verify(token: string): TokenClaims | undefined;
}

/** A token of ours in a version that this release cannot read; a process of a newer release can. */
export class NewerTokenError extends Error {
  constructor(version: number) {
    super(`The token is of version ${version}, and this process reads versions up to ${newest}.`);
    this.name = 'NewerTokenError';
  }
}

/** A form of the claims. */
interface Version {
  write(claims: TokenClaims): string;
  read(body: string): TokenClaims;
}

/**
 * During a rolling upgrade, processes get each other's tokens. So a release reads a new version before the
 * next release issues it, and a version that is no longer issued is read for one more release, and for at
 * least a week, the longest late window of a placement.
 */
const versions: Readonly<Record<number, Version>> = {
  1: { write: writePositional, read: readPositional },
  2: { write: writeNamed, read: readNamed },
};
const newest = 2;

/** The previous release reads this version too. */
const issued = 1;

/** @param version - of the tokens that are signed; only tests pass another one. */
export function createDecisionTokens(key: string, version: number = issued): DecisionTokens {
  const { write } = versionOf(version);
  return {
    sign(claims) {
      const body = write(claims);
      return `${body}.${hmac(key, body)}`;
    },
    verify(token) {
      const dot = token.lastIndexOf('.');
      const body = token.slice(0, dot);
      const expected = hmac(key, body);
      // Texts are compared, not bytes: base64url has several spellings of one last byte.
      const given = Buffer.from(token.slice(dot + 1));
      if (dot < 1 || given.length !== expected.length) return undefined;
      if (!timingSafeEqual(given, Buffer.from(expected))) return undefined;
      // Version 1 has no number: it begins with the decision's id, which never begins with a digit.
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

/** The required claims, in order. Our names and ids contain no `~`. */
const writeRequired = (claims: TokenClaims): string =>
  `${claims.decisionId}~${claims.accountId}~${claims.environment}~${claims.placement}` +
  `~${claims.creativeId}~${claims.issuedAtMs}~${claims.expiresAtMs}`;

/** Reads the required claims, and returns what follows them. */
function readRequired(texts: readonly string[]): [claims: TokenClaims, rest: string[]] {
  const [decisionId = '', accountId = '', environment, placement = '', creativeId = '', ...others] =
    texts;
  const [issuedAt, expiresAt, ...rest] = others;
  const claims: TokenClaims = {
    decisionId,
    accountId,
    environment: environment === 'live' ? 'live' : 'sandbox',
    placement,
    creativeId,
    issuedAtMs: Number(issuedAt),
    expiresAtMs: Number(expiresAt),
  };
  return [claims, rest];
}

/** Version 1: the user's name, if any, comes last, and may contain a `~`. */
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

/** Version 2: optional claims have names, so that older releases skip those they do not know. */
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
