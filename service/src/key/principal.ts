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

/** What a user may do: a viewer reads; an operator changes; an owner also manages keys, secrets and users. */
export type Role = 'viewer' | 'operator' | 'owner';

export const roles = ['viewer', 'operator', 'owner'] as const satisfies readonly Role[];

/** Whether `role` may do what `needed` may. */
export const reaches = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

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
