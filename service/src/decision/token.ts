import { timingSafeEqual } from 'node:crypto';
import type { Environment } from '../key/key-text.ts';
import { createMac } from '../platform/mac.ts';
import { rememberLast } from '../platform/remember.ts';

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
 * Signs and checks decision tokens: `<claims>.<HMAC-SHA256 as base64url>`. The claims are texts with `~`
 * in between, the last one a user's name as in an address, so that a token goes into JSON and headers as
 * it is.
 */
export interface DecisionTokens {
  sign(claims: TokenClaims): string;
  /** Undefined when the token was not signed by this service, or was changed. */
  verify(token: string): TokenClaims | undefined;
}

export function createDecisionTokens(key: string): DecisionTokens {
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
      // Texts are compared, not bytes: base64url has several spellings of one last byte.
      const given = Buffer.from(token.slice(dot + 1));
      if (dot < 1 || given.length !== expected.length) return undefined;
      if (!timingSafeEqual(given, Buffer.from(expected))) return undefined;
      return read(body);
    },
  };
}

// A number beyond 2^31 is written as one with a fraction would be, which takes 0.2 µs.
const issuedText = rememberLast(String);
const expiresText = rememberLast(String);

/** No name or id of ours holds a `~`, and a user's name comes last. */
function write(claims: TokenClaims): string {
  const { decisionId, accountId, environment, placement, creativeId, userRef } = claims;
  const common =
    `${decisionId}~${accountId}~${environment}~${placement}~${creativeId}` +
    `~${issuedText(claims.issuedAtMs)}~${expiresText(claims.expiresAtMs)}`;
  return userRef === undefined ? common : `${common}~${encodeURIComponent(userRef)}`;
}

/** What {@link write} wrote. */
function read(body: string): TokenClaims {
  const [decisionId = '', accountId = '', environment, placement = '', creativeId = '', ...rest] =
    body.split('~');
  const [issuedAt, expiresAt, ...userRef] = rest;
  return {
    decisionId,
    accountId,
    environment: environment === 'live' ? 'live' : 'sandbox',
    placement,
    creativeId,
    issuedAtMs: Number(issuedAt),
    expiresAtMs: Number(expiresAt),
    ...(userRef.length > 0 ? { userRef: decodeURIComponent(userRef.join('~')) } : {}),
  };
}
