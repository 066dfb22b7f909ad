import type { Scope } from '../store/database.ts';

export type Environment = Scope['environment'];
export type KeyKind = 'sk' | 'pk';

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
