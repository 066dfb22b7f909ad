/** What a user may do: a viewer reads; an operator changes; an owner also manages keys, secrets and users. */
export type Role = 'viewer' | 'operator' | 'owner';

export const roles = ['viewer', 'operator', 'owner'] as const satisfies readonly Role[];

/** Whether `role` may do what `needed` may. */
export const reaches = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

/** Somebody who uses the panel of one account. */
export interface User {
  accountId: string;
  id: string;
  email: string;
  name: string;
  role: Role;
  /** The hash of the password; null until the invitation is taken. */
  password: string | null;
  /** The sealed secret of the one-time codes. */
  codesSecret: string | null;
  /** Whether signing in asks for a code. */
  codesActive: boolean;
  revision: number;
  createdAtMs: number;
  lastSignInAtMs: number | null;
}

/** A user as the panel is told of. */
export const describeUser = (user: User) => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  code_enabled: user.codesActive,
  invited: user.password === null,
  created_at: new Date(user.createdAtMs).toISOString(),
  ...(user.lastSignInAtMs === null
    ? {}
    : { last_sign_in_at: new Date(user.lastSignInAtMs).toISOString() }),
});

/** One spelling for one address: what is typed with a capital signs in as well. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();
