import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Scope } from '../store/database.ts';

export type Environment = Scope['environment'];
export type KeyKind = 'sk' | 'pk';

/** The information encoded in a key. */
interface KeyText {
  kind: KeyKind;
  environment: Environment;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const pattern = /^(sk|pk)_(sandbox|live)_[0-9A-Za-z]{36}$/;
const checksumLength = 6;

/**
 * Computes the checksum at the end of a key. It detects typos without a database lookup.
 *
 * 1. Take the part of the key before the checksum: a prefix such as `sk_live_` and the 30 random characters.
 * 2. Compute the CRC-32 (IEEE 802.3, as in zip and PNG) of its ASCII bytes, as an unsigned 32-bit number.
 * 3. Write this number in base 62 with the digits `0-9A-Za-z`, most significant digit first.
 * 4. Pad on the left with `0` to 6 characters.
 */
function keyChecksum(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let digit = 0; digit < checksumLength; digit += 1) {
    text = alphabet.charAt(remainder % 62) + text;
    remainder = Math.floor(remainder / 62);
  }
  return text;
}

/** Generates a new key. Its 30 random characters carry 178 bits of entropy. */
export function makeKeyText(kind: KeyKind, environment: Environment): string {
  const body = `${kind}_${environment}_${randomBase62(30)}`;
  return body + keyChecksum(body);
}

/** Parses a key. Returns undefined if the text is not a valid key. */
export function parseKeyText(text: string): KeyText | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const body = text.slice(0, -checksumLength);
  if (keyChecksum(body) !== text.slice(-checksumLength)) return undefined;
  return {
    kind: match[1] === 'sk' ? 'sk' : 'pk',
    environment: match[2] === 'live' ? 'live' : 'sandbox',
  };
}

/**
 * Returns the hash that is stored instead of a key. A slow password hash isn't needed, because keys have 178 bits of
 * entropy.
 */
export function hashKey(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // Skips bytes of 248 (4 × 62) or more, because they would make the first eight digits more likely (modulo bias).
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    }
  }
  return text;
}

/** The principal of a request with an API key. */
export interface KeyPrincipal {
  accountId: string;
  environment: Environment;
  kind: KeyKind;
  keyId: string;
  /** Origins that may use a publishable key. `*` means any origin. */
  allowedOrigins: string[];
  /** The key's own rate limit. By default, the service's limit applies. */
  rateLimit?: { perS: number; burst: number };
  /** When the key stops working, in Unix milliseconds. */
  revokedAtMs?: number;
}

/** Role of a panel user: viewers read, operators make changes, owners also manage keys, secrets and users. */
export type Role = 'viewer' | 'operator' | 'owner';

export const roles = ['viewer', 'operator', 'owner'] as const satisfies readonly Role[];

/** Whether `role` has the permissions of `requiredRole`. */
export const includesRole = (role: Role, requiredRole: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(requiredRole);

/** The principal of a request from the panel. */
export interface SessionPrincipal {
  accountId: string;
  environment: Environment;
  kind: 'session';
  userId: string;
  email: string;
  role: Role;
}

/** The authenticated identity of a request. */
export type Principal = KeyPrincipal | SessionPrincipal;
