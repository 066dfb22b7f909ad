import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../platform/time.ts';
import type { Queries } from '../store/database.ts';
import { type User, toUser, userColumns } from './user.ts';

/** A session expires `maxLifetimeMs` after sign-in or `idleMs` after its last request, whichever comes first. */
const maxLifetimeMs = 12 * 3_600_000;
const idleMs = 2 * 3_600_000;
/** Minimum interval between updates to a session's last-seen time. */
const touchIntervalMs = 60_000;
/** Maximum number of a user's sessions. A further sign-in ends the one that was used least recently. */
const maxSessions = 50;

/** A signed-in user's session. */
export interface Session {
  user: User;
  accountName: string;
  csrfToken: string;
  /** When the user last entered the password, here or at the OpenID provider. */
  confirmedAtMs: number;
  /** When the session expires if there are no further requests. */
  expiresAtMs: number;
  /** When the session expires regardless of activity. The cookie expires at the same time. */
  endsAtMs: number;
}

/** Manages sessions. Each session has a random token in a cookie. Only the token's hash is stored. */
export interface Sessions {
  /**
   * Starts a session and returns its token.
   *
   * @param confirmedAtMs when the user entered credentials; default: now
   */
  begin(
    queries: Queries,
    user: Pick<User, 'accountId' | 'id'>,
    confirmedAtMs?: number,
  ): Promise<string>;
  /**
   * Finds an active session. Resolves to undefined if there is none.
   *
   * @param options `touch`: whether to extend the session (default: true); `queries`: the transaction that reads it
   */
  find(
    token: string,
    options?: { touch: boolean; queries?: Queries },
  ): Promise<Session | undefined>;
  /** Records that the session's user has just entered the password. */
  confirm(token: string): Promise<void>;
  end(queries: Queries, token: string): Promise<void>;
  /** Ends all of a user's sessions. */
  endAll(queries: Queries, user: Pick<User, 'accountId' | 'id'>): Promise<void>;
}

export function createSessions(database: Queries, clock: Clock): Sessions {
  type Row = Parameters<typeof toUser>[0] & {
    accountName: string;
    seenAt: Date;
    expiresAt: Date;
    confirmedAt: Date;
  };
  const read = async (queries: Queries, token: string): Promise<Row | undefined> => {
    const nowMs = clock.nowMs();
    const { condition, params } = matchToken('s', token, 3);
    const [row] = await queries.query<Row>(
      `SELECT ${userColumns}, a.name AS "accountName", s.seen_at AS "seenAt", s.expires_at AS "expiresAt",
          s.confirmed_at AS "confirmedAt"
        FROM sessions s
        JOIN users u ON u.account_id = s.account_id AND u.id = s.user_id
        JOIN accounts a ON a.account_id = s.account_id
        WHERE s.expires_at > $1 AND s.seen_at > $2 AND ${condition}`,
      [new Date(nowMs), new Date(nowMs - idleMs), ...params],
    );
    return row;
  };
  return {
    async begin(queries, { accountId, id }, confirmedAtMs) {
      const token = createToken(accountId);
      const nowMs = clock.nowMs();
      await queries.query(
        `DELETE FROM sessions WHERE account_id = $1 AND (expires_at < $2 OR hash IN (
          SELECT hash FROM sessions WHERE account_id = $1 AND user_id = $3 ORDER BY seen_at DESC OFFSET $4))`,
        [accountId, new Date(nowMs), id, maxSessions - 1],
      );
      await queries.query(
        'INSERT INTO sessions (account_id, hash, user_id, seen_at, expires_at, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6)',
        [
          accountId,
          hashToken(token),
          id,
          new Date(nowMs),
          new Date(nowMs + maxLifetimeMs),
          new Date(confirmedAtMs ?? nowMs),
        ],
      );
      return token;
    },
    async find(token, { touch, queries = database } = { touch: true }) {
      const row = await read(queries, token);
      if (!row) return undefined;
      const { accountName, seenAt, expiresAt, confirmedAt, ...user } = row;
      const nowMs = clock.nowMs();
      if (touch && nowMs - seenAt.getTime() > touchIntervalMs) {
        await queries.query(
          'UPDATE sessions SET seen_at = $3 WHERE account_id = $1 AND hash = $2',
          [user.accountId, hashToken(token), new Date(nowMs)],
        );
      }
      const idleAtMs = (touch ? nowMs : seenAt.getTime()) + idleMs;
      return {
        user: toUser(user),
        accountName,
        csrfToken: deriveCsrfToken(token),
        confirmedAtMs: confirmedAt.getTime(),
        expiresAtMs: Math.min(expiresAt.getTime(), idleAtMs),
        endsAtMs: expiresAt.getTime(),
      };
    },
    async confirm(token) {
      const { condition, params } = matchToken('s', token, 2);
      await database.query(`UPDATE sessions AS s SET confirmed_at = $1 WHERE ${condition}`, [
        new Date(clock.nowMs()),
        ...params,
      ]);
    },
    async end(queries, token) {
      const { condition, params } = matchToken('s', token, 1);
      await queries.query(`DELETE FROM sessions AS s WHERE ${condition}`, params);
    },
    async endAll(queries, { accountId, id }) {
      await queries.query('DELETE FROM sessions WHERE account_id = $1 AND user_id = $2', [
        accountId,
        id,
      ]);
    },
  };
}

/**
 * Creates a token for a cookie or a link: the account's id, followed by 256 random bits. The account's id determines
 * which of a cluster's shards stores the token's row.
 */
export const createToken = (accountId: string): string =>
  `${accountId}.${randomBytes(32).toString('base64url')}`;

/** Returns the hash that is stored instead of a token. A slow hash isn't needed for 256 random bits. */
export const hashToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex');

/**
 * Returns an SQL condition that finds a token's row, with its parameters. Tokens from earlier releases have no account
 * id.
 *
 * @param table the table alias
 * @param first the number of the first parameter
 */
export function matchToken(
  table: string,
  token: string,
  first: number,
): { condition: string; params: string[] } {
  const [accountId, random] = token.split('.');
  const condition = `${table}.hash = $${first}`;
  const hash = hashToken(token);
  if (accountId === undefined || random === undefined) return { condition, params: [hash] };
  return {
    condition: `${condition} AND ${table}.account_id = $${first + 1}`,
    params: [hash, accountId],
  };
}

/** Returns a session's CSRF token. Only pages from the service's own origin can read it. */
const deriveCsrfToken = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('csrf').digest('base64url');
