import type { Role } from './principal.ts';
import { serviceAccount } from './secret-box.ts';
import { DomainError } from '../platform/domain-error.ts';
import { formatInstant } from '../platform/time.ts';
import type { Queries } from '../store/database.ts';

/** A panel user. Each user belongs to one account. */
export interface User {
  accountId: string;
  id: string;
  email: string;
  name: string;
  role: Role;
  /** The password hash. Null until the user has set a password, which single sign-on doesn't need. */
  password: string | null;
  /** The encrypted secret for one-time codes. */
  codesSecret: string | null;
  /** Whether the user needs a one-time code to sign in. */
  codesActive: boolean;
  revision: number;
  createdAtMs: number;
  lastSignInAtMs: number | null;
}

/** Whether a user has accepted the invitation, with a password or by single sign-on. */
export const hasAccepted = (user: User): boolean =>
  user.password !== null || user.lastSignInAtMs !== null;

/** Describes a user for the panel. */
export const describeUser = (user: User) => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  code_enabled: user.codesActive,
  invited: !hasAccepted(user),
  created_at: formatInstant(user.createdAtMs),
  ...(user.lastSignInAtMs === null ? {} : { last_sign_in_at: formatInstant(user.lastSignInAtMs) }),
});

/**
 * Returns the canonical form of an e-mail address. Another letter never becomes an ASCII letter, because it may be in
 * somebody else's address: the sign for kelvin, K, has the lowercase k.
 */
export const normalizeEmail = (email: string): string =>
  email.trim().replaceAll(/./gsu, (letter) => {
    const lowercase = letter.toLowerCase();
    return isAscii(letter) || ![...lowercase].some(isAscii) ? lowercase : letter;
  });

const isAscii = (letter: string): boolean => letter <= '\u007f';

type UserRow = Omit<User, 'createdAtMs' | 'lastSignInAtMs'> & {
  createdAt: Date;
  lastSignInAt: Date | null;
};

/** The columns of `users`. Queries must alias the table as `u`. */
export const userColumns = `u.account_id AS "accountId", u.id, u.email, u.name, u.role, u.password,
  u.codes_secret AS "codesSecret", u.codes_active AS "codesActive", u.revision,
  u.created_at AS "createdAt", u.last_sign_in_at AS "lastSignInAt"`;

export const toUser = ({ createdAt, lastSignInAt, ...row }: UserRow): User => ({
  ...row,
  createdAtMs: createdAt.getTime(),
  lastSignInAtMs: lastSignInAt?.getTime() ?? null,
});

/** Finds the users with this e-mail address: at most one in each account, and at most {@link maxAccounts}. */
export async function findUsersByEmail(queries: Queries, email: string): Promise<User[]> {
  // Citus can't join the two tables: sign-in names are service-wide, whereas users are on their account's shard.
  const names = await queries.query<{ accountId: string; id: string }>(
    `SELECT user_account_id AS "accountId", user_id AS id FROM sign_in_names
      WHERE account_id = $1 AND email = $2 ORDER BY user_account_id LIMIT ${maxAccounts}`,
    [serviceAccount, email],
  );
  const users: User[] = [];
  for (const { accountId, id } of names) {
    const user = await findUser(queries, accountId, id);
    if (user) users.push(user);
  }
  return users;
}

/** How many of a person's accounts a sign-in considers, because each of them costs a password check. */
const maxAccounts = 8;

export async function findUser(
  queries: Queries,
  accountId: string,
  id: string,
): Promise<User | undefined> {
  const [row] = await queries.query<UserRow>(
    `SELECT ${userColumns} FROM users u WHERE u.account_id = $1 AND u.id = $2`,
    [accountId, id],
  );
  return row && toUser(row);
}

/** Lists an account's users, newest first. Returns `limit` + 1 rows if there is another page. */
export async function listUsers(
  queries: Queries,
  accountId: string,
  { limit, startingAfter }: { limit: number; startingAfter?: string },
): Promise<User[]> {
  const rows = await queries.query<UserRow>(
    `SELECT ${userColumns} FROM users u
      WHERE u.account_id = $1 AND ($2::text IS NULL OR u.id < $2) ORDER BY u.id DESC LIMIT $3`,
    [accountId, startingAfter ?? null, limit + 1],
  );
  return rows.map(toUser);
}

/** @throws DomainError when another user of the account has the same e-mail address. */
export async function insertUser(
  queries: Queries,
  user: Pick<User, 'accountId' | 'id' | 'email' | 'name' | 'role' | 'password' | 'createdAtMs'>,
): Promise<void> {
  const users = await queries.query(
    `INSERT INTO sign_in_names (account_id, email, user_account_id, user_id) VALUES ($1, $2, $3, $4)
      ON CONFLICT DO NOTHING RETURNING email`,
    [serviceAccount, user.email, user.accountId, user.id],
  );
  if (users.length === 0) {
    throw new DomainError('conflict', 'A user with this e-mail address already exists.', [
      { pointer: '/email', message: 'is taken' },
    ]);
  }
  // The links for the first owner end with the first user, whoever created that user.
  await queries.query('DELETE FROM user_links WHERE user_id IS NULL');
  await queries.query(
    `INSERT INTO users (account_id, id, email, name, role, password, created_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      user.accountId,
      user.id,
      user.email,
      user.name,
      user.role,
      user.password,
      new Date(user.createdAtMs),
    ],
  );
}

/** The columns that an owner or the user can change. */
export type UserChange = Partial<
  Pick<User, 'name' | 'role' | 'password' | 'codesSecret' | 'codesActive'>
>;

const changeableColumns = {
  name: 'name',
  role: 'role',
  password: 'password',
  codesSecret: 'codes_secret',
  codesActive: 'codes_active',
} as const satisfies Record<keyof UserChange, string>;

/**
 * Reads a user and locks the row until the transaction ends. A change that depends on the user's current state must
 * read it this way, because the user of a session was read before the request was handled.
 */
export async function lockUser(
  queries: Queries,
  accountId: string,
  id: string,
): Promise<User | undefined> {
  const [row] = await queries.query<UserRow>(
    `SELECT ${userColumns} FROM users u WHERE u.account_id = $1 AND u.id = $2 FOR UPDATE`,
    [accountId, id],
  );
  return row && toUser(row);
}

/**
 * Writes the given columns only, so that concurrent changes to other columns are kept. The revision counts only changes
 * to what an owner sees and decides on: a user's new password is no reason to refuse their removal.
 */
export async function updateUser(
  queries: Queries,
  { accountId, id, name, role }: Pick<User, 'accountId' | 'id' | 'name' | 'role'>,
  change: UserChange,
): Promise<void> {
  const entries = (Object.keys(changeableColumns) as (keyof UserChange)[])
    .filter((key) => change[key] !== undefined)
    .map((key) => ({ column: changeableColumns[key], value: change[key] }));
  const assignments = entries.map(({ column }, index) => `${column} = $${index + 3}`);
  if ((change.name ?? name) !== name || (change.role ?? role) !== role)
    assignments.push('revision = revision + 1');
  await queries.query(
    `UPDATE users SET ${assignments.join(', ')} WHERE account_id = $1 AND id = $2`,
    [accountId, id, ...entries.map(({ value }) => value)],
  );
}

export async function deleteUser(queries: Queries, { accountId, id, email }: User): Promise<void> {
  await queries.query('DELETE FROM users WHERE account_id = $1 AND id = $2', [accountId, id]);
  await queries.query(
    'DELETE FROM sign_in_names WHERE account_id = $1 AND email = $2 AND user_account_id = $3',
    [serviceAccount, email, accountId],
  );
  for (const table of ['sessions', 'user_links'])
    await queries.query(`DELETE FROM ${table} WHERE account_id = $1 AND user_id = $2`, [
      accountId,
      id,
    ]);
}

/** Returns the number of users with a role, excluding users who haven't accepted their invitation. */
export async function countUsers(queries: Queries, accountId: string, role: Role): Promise<number> {
  const [row] = await queries.query<{ count: number }>(
    'SELECT count(*)::bigint AS count FROM users WHERE account_id = $1 AND role = $2 AND (password IS NOT NULL OR last_sign_in_at IS NOT NULL)',
    [accountId, role],
  );
  return row?.count ?? 0;
}
