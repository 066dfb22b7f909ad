import type { AuditLog } from '../store/audit-log.ts';
import { serviceAccount } from './secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import { DomainError, throwFieldErrors } from '../platform/domain-error.ts';
import { lockConfiguration } from '../store/config-version.ts';
import type { Database, Queries } from '../store/database.ts';
import { checkNewPassword, type Passwords } from './credentials.ts';
import { createToken, hashToken, matchToken, type Sessions } from './sessions.ts';
import { normalizeEmail, type User, findUser, insertUser, updateUser } from './user.ts';

const lifetimeMs = 86_400_000;

/** A single-use link with which a user sets their password, or with which the first owner signs up. */
export interface Link {
  accountId: string;
  /** Undefined for the first owner. */
  user: User | undefined;
}

/** Manages single-use links. */
export interface Links {
  /** Creates a link for a user and revokes the user's earlier links. Returns the new link's token. */
  make(queries: Queries, user: Pick<User, 'accountId' | 'id'>): Promise<string>;
  /** Creates a link for the first owner. Resolves to its token, or to undefined if a user already exists. */
  makeForFirstOwner(): Promise<string | undefined>;
  find(token: string): Promise<Link | undefined>;
  /**
   * Consumes a link and sets the password. Resolves to the user.
   *
   * @throws DomainError when the link has been used, has expired, or is for a different e-mail address.
   */
  redeem(token: string, person: { email: string; name: string; password: string }): Promise<User>;
}

interface Deps {
  database: Database;
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
  sessions: Sessions;
  passwords: Passwords;
}

export function createLinks({ database, clock, makeId, audit, sessions, passwords }: Deps): Links {
  const insert = async (
    queries: Queries,
    accountId: string,
    userId: string | null,
  ): Promise<string> => {
    const token = createToken(accountId);
    await queries.query(
      'INSERT INTO user_links (account_id, hash, user_id, expires_at) VALUES ($1, $2, $3, $4)',
      [accountId, hashToken(token), userId, new Date(clock.nowMs() + lifetimeMs)],
    );
    return token;
  };
  const read = async (queries: Queries, token: string): Promise<Link | undefined> => {
    const { condition, params } = matchToken('l', token, 2);
    const [row] = await queries.query<{ account_id: string; user_id: string | null }>(
      `SELECT account_id, user_id FROM user_links AS l WHERE expires_at > $1 AND ${condition}`,
      [new Date(clock.nowMs()), ...params],
    );
    if (!row) return undefined;
    const { account_id: accountId, user_id: id } = row;
    const user = id === null ? undefined : await findUser(queries, accountId, id);
    return id !== null && !user ? undefined : { accountId, user };
  };
  const createAccount = async (queries: Queries): Promise<string> => {
    const accountId = makeId('account');
    await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
      accountId,
      'Main',
      new Date(clock.nowMs()),
    ]);
    return accountId;
  };

  const createOwner = async (
    queries: Queries,
    linkAccountId: string,
    person: { email: string; name: string; password: string },
  ): Promise<User> => {
    const accountId =
      linkAccountId === serviceAccount ? await createAccount(queries) : linkAccountId;
    const id = makeId('user');
    await insertUser(queries, {
      ...person,
      accountId,
      id,
      role: 'owner',
      createdAtMs: clock.nowMs(),
    });
    const user = await findUser(queries, accountId, id);
    if (!user) throw new Error(`User ${id} was not stored.`);
    return user;
  };

  const setCredentials = async (
    queries: Queries,
    user: User,
    { name, password }: { name: string; password: string },
  ): Promise<User> => {
    const change = { name, password, codesActive: false, codesSecret: null };
    await updateUser(queries, user, change);
    await sessions.endAll(queries, user);
    return { ...user, ...change };
  };

  return {
    async make(queries, { accountId, id }) {
      await queries.query('DELETE FROM user_links WHERE account_id = $1 AND user_id = $2', [
        accountId,
        id,
      ]);
      return insert(queries, accountId, id);
    },
    async makeForFirstOwner() {
      if ((await database.query('SELECT 1 FROM users LIMIT 1')).length > 0) return undefined;
      await database.query('DELETE FROM user_links WHERE expires_at < $1', [
        new Date(clock.nowMs()),
      ]);
      const [account] = await database.query<{ account_id: string }>(
        'SELECT account_id FROM accounts ORDER BY account_id LIMIT 1',
      );
      return insert(database, account?.account_id ?? serviceAccount, null);
    },
    find: (token) => read(database, token),
    async redeem(token, { name, password, email: enteredEmail }) {
      const email = normalizeEmail(enteredEmail);
      const openLink = await read(database, token);
      if (!openLink) throw createUsedLinkError();
      if (openLink.user && openLink.user.email !== email)
        throwFieldErrors([{ pointer: '/email', message: 'is not the invited e-mail address' }]);
      await checkNewPassword(password, { email, name }, '/password');
      // Hashes the password before the transaction, because hashing is slow and would block the embedded database.
      const person = { email, name: name.trim(), password: await passwords.hash(password) };
      return database.transaction(async (queries) => {
        await lockConfiguration(queries, openLink.accountId);
        const link = await read(queries, token);
        if (!link) throw createUsedLinkError();
        if (!link.user) await consumeFirstOwnerLink(queries, token);
        const { condition, params } = matchToken('l', token, 1);
        await queries.query(`DELETE FROM user_links AS l WHERE ${condition}`, params);
        const user = link.user
          ? await setCredentials(queries, link.user, person)
          : await createOwner(queries, link.accountId, person);
        await audit.record(
          {
            queries,
            scope: { accountId: user.accountId, environment: 'live' },
            actor: user.email,
          },
          { action: 'user.set_up', targetId: user.id },
        );
        return user;
      });
    },
  };
}

/**
 * Removes every link for the first owner. Concurrent calls wait for each other, and only one of them finds its link.
 *
 * @throws DomainError when the link is gone, or when there is a user, for example from an import.
 */
async function consumeFirstOwnerLink(queries: Queries, token: string): Promise<void> {
  const rows = await queries.query<{ hash: string }>(
    'DELETE FROM user_links WHERE user_id IS NULL RETURNING hash',
  );
  const isOpen = rows.some(({ hash }) => hash === hashToken(token));
  if (!isOpen || (await queries.query('SELECT 1 FROM users LIMIT 1')).length > 0)
    throw createUsedLinkError();
}

const createUsedLinkError = (): DomainError =>
  new DomainError(
    'not_found',
    'The link has already been used or has expired. Ask an owner for a new one, or run `trueward-service users invite`.',
  );
