import type { Role } from '../user/user.ts';
import type { Environment, KeyKind } from './key-text.ts';

/** Whom a request comes from, as its key says. */
export interface KeyPrincipal {
  accountId: string;
  environment: Environment;
  kind: KeyKind;
  keyId: string;
  /** Where a publishable key may be used; `*` is everywhere. */
  allowedOrigins: string[];
  /** Requests that it may send, where it has a limit of its own. */
  rateLimit?: { perS: number; burst: number };
  /** Unix milliseconds from which the key no longer works. */
  revokedAtMs?: number;
}

/** Whom a request of the panel comes from. */
export interface SessionPrincipal {
  accountId: string;
  environment: Environment;
  kind: 'session';
  userId: string;
  email: string;
  role: Role;
}

/** Whom a request comes from. */
export type Principal = KeyPrincipal | SessionPrincipal;
