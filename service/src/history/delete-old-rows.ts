import { serviceAccount } from '../access/secret-box.ts';
import { firstIdAt } from '../platform/ids.ts';
import { formatInstant } from '../platform/time.ts';
import {
  childRetentionMs,
  readAccountRetention,
  type ServiceRetention,
} from '../store/account-retention.ts';
import type { Database, Queries, Scope } from '../store/database.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import {
  deleteDecisions,
  deleteEvents,
  deleteWallets,
  type IdRow,
  rowsPerStep,
} from './delete-records.ts';

/** How long data is kept at most, and what must be archived first. */
export interface Retention extends ServiceRetention {
  /** The folder for archives of old weeks. If set, only archived weeks are dropped. */
  archiveDirectory: string | undefined;
}

const dayMs = 86_400_000;

/** How long revoked keys are kept, for the list of keys. */
const revokedKeysMs = 30 * dayMs;
/** How long idempotency keys and failed sign-ins are kept. */
const shortLivedMs = dayMs;
/** How long jobs that have ended are listed. The archive command reads the erasures from this list. */
const jobRetentionMs = 90 * dayMs;
const rowsPerStatement = 1_000;

interface Sweep {
  table: string;
  /** The primary-key columns, except the account. */
  key: string;
  /** The condition for the rows to delete. `$3` is `bound`. */
  where: string;
  bound: string;
}

/**
 * Deletes old rows from all accounts. Each statement deletes up to a thousand rows, so that requests aren't blocked for
 * long. Returns the number of deleted rows by table. Stops early when `stopping` aborts.
 */
export async function deleteOldRows(
  database: Database,
  nowMs: number,
  retention: Retention,
  stopping: AbortSignal,
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  const count = (table: string, rows: number): void => {
    if (rows > 0) deleted[table] = (deleted[table] ?? 0) + rows;
  };
  const rows = await database.query<{ account_id: string }>('SELECT account_id FROM accounts');
  for (const accountId of [serviceAccount, ...rows.map((row) => row.account_id)]) {
    const own = await readAccountRetention(database, accountId, retention);
    for (const sweep of listSweeps(nowMs, own))
      count(sweep.table, await runSweep(database, accountId, sweep, stopping));
    // What is kept as long as the service keeps it is dropped by the week.
    const isShorter = own.decisionsMs !== retention.decisionsMs;
    const retentionMs = isShorter ? own.decisionsMs : undefined;
    await deleteExpired(database, accountId, { retentionMs, nowMs }, stopping, count);
    count('viewers', await deleteOldViewers(database, accountId, nowMs, stopping));
    count('player_tokens', await deleteOldGuests(database, accountId, nowMs, stopping));
  }
  return deleted;
}

/**
 * Deletes child-directed decisions and events after {@link childRetentionMs}, and all of an account that keeps them for
 * less time than the service, which drops whole weeks.
 */
async function deleteExpired(
  database: Database,
  accountId: string,
  { retentionMs, nowMs }: { retentionMs: number | undefined; nowMs: number },
  stopping: AbortSignal,
  count: (table: string, rows: number) => void,
): Promise<void> {
  while (!stopping.aborted) {
    const { events, decisions } = await database.transaction((queries) =>
      deleteExpiredRows(queries, accountId, retentionMs, nowMs),
    );
    count('webhook_events', events);
    count('decisions', decisions);
    if (events === 0 && decisions === 0) return;
  }
}

/**
 * Deletes some of an account's rows that are too old: child-directed ones after {@link childRetentionMs}, all after
 * `retentionMs`, if that is defined. Returns how many of each there were.
 */
export async function deleteExpiredRows(
  queries: Queries,
  accountId: string,
  retentionMs: number | undefined,
  nowMs: number,
): Promise<{ events: number; decisions: number }> {
  const find = async (table: string, kind: 'webhookEvent' | 'decision'): Promise<IdRow[]> => {
    const select = (condition: string, ageMs: number): Promise<IdRow[]> =>
      queries.query<IdRow>(
        `SELECT environment, id FROM ${table} WHERE account_id = $1 AND ${condition} AND id < $2
          ORDER BY id LIMIT ${rowsPerStep} FOR UPDATE`,
        [accountId, firstIdAt(kind, nowMs - ageMs)],
      );
    const rows = await select('child_directed', childRetentionMs);
    if (rows.length > 0 || retentionMs === undefined) return rows;
    const sandbox = await select(`environment = 'sandbox'`, retentionMs);
    return sandbox.length > 0 ? sandbox : select(`environment = 'live'`, retentionMs);
  };
  const events = await find('webhook_events', 'webhookEvent');
  const decisions = await find('decisions', 'decision');
  await deleteEvents(queries, accountId, events);
  await deleteDecisions(queries, accountId, decisions);
  return { events: events.length, decisions: decisions.length };
}

function listSweeps(nowMs: number, { auditMs }: Pick<ServiceRetention, 'auditMs'>): Sweep[] {
  const now = formatInstant(nowMs);
  const expiredBefore = formatInstant(nowMs - shortLivedMs);
  return [
    {
      table: 'idempotency_keys',
      key: 'environment, key',
      where: 'created_at < $3::timestamptz',
      bound: expiredBefore,
    },
    {
      table: 'secrets',
      key: 'purpose, id',
      where: 'expires_at < $3::timestamptz',
      bound: expiredBefore,
    },
    {
      table: 'keys',
      key: 'id',
      where: 'revoked_at < $3::timestamptz',
      bound: formatInstant(nowMs - revokedKeysMs),
    },
    { table: 'sessions', key: 'hash', where: 'expires_at < $3::timestamptz', bound: now },
    {
      table: 'link_codes',
      key: 'environment, viewer',
      where: 'expires_at < $3::timestamptz',
      bound: now,
    },
    { table: 'user_links', key: 'hash', where: 'expires_at < $3::timestamptz', bound: now },
    {
      table: 'sign_in_attempts',
      key: 'subject',
      where: 'last_at < $3::timestamptz AND (known_until IS NULL OR known_until < $3::timestamptz)',
      bound: expiredBefore,
    },
    {
      table: 'limit_uses',
      key: 'process_id, name',
      where: 'seen_at < $3::timestamptz',
      bound: expiredBefore,
    },
    {
      table: 'jobs',
      key: 'id',
      where: `id < $3 AND state <> 'running'`,
      bound: firstIdAt('job', nowMs - jobRetentionMs),
    },
    ...(auditMs === undefined
      ? []
      : [
          {
            table: 'audit_entries',
            key: 'id',
            where: 'id < $3',
            bound: firstIdAt('auditEntry', nowMs - auditMs),
          },
        ]),
  ];
}

async function runSweep(
  database: Database,
  accountId: string,
  { table, key, where, bound }: Sweep,
  stopping: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    if (stopping.aborted) return deleted;
    const rows = await database.query(
      `DELETE FROM ${table} WHERE account_id = $1 AND (${key}) IN (
        SELECT ${key} FROM ${table} WHERE account_id = $1 AND ${where} LIMIT $2) RETURNING account_id`,
      [accountId, rowsPerStatement, bound],
    );
    deleted += rows.length;
    if (rows.length < rowsPerStatement) return deleted;
  }
}

/** How long an inactive player's row is kept. The player's next reward recreates it. */
const viewerRetentionMs = 30 * dayMs;
/** Number of rows to scan per statement. There is no index on `seen_at`, because it would slow down rewards. */
const viewersPerScan = 10_000;

/** Deletes the rows of players who have been inactive for 30 days. Returns the number of rows. */
async function deleteOldViewers(
  database: Database,
  accountId: string,
  nowMs: number,
  stopping: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const environment of ['sandbox', 'live']) {
    let lastViewer = '';
    for (;;) {
      if (stopping.aborted) return deleted;
      const [last] = await database.query<{ viewer: string }>(
        `SELECT viewer FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer > $3
          ORDER BY viewer OFFSET $4 LIMIT 1`,
        [accountId, environment, lastViewer, viewersPerScan - 1],
      );
      const rows = await database.query(
        `DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer > $3
          AND ($4::text IS NULL OR viewer <= $4) AND seen_at < $5 RETURNING account_id`,
        [
          accountId,
          environment,
          lastViewer,
          last?.viewer ?? null,
          new Date(nowMs - viewerRetentionMs),
        ],
      );
      deleted += rows.length;
      if (!last) break;
      lastViewer = last.viewer;
    }
  }
  return deleted;
}

/** How long a guest player who doesn't play is kept, with the wallet. */
const guestRetentionMs = 400 * dayMs;
const guestsPerStep = 200;

/** Deletes the guest players none of whose devices has been used for 400 days. Returns the number of devices. */
async function deleteOldGuests(
  database: Database,
  accountId: string,
  nowMs: number,
  stopping: AbortSignal,
): Promise<number> {
  let deleted = 0;
  while (!stopping.aborted) {
    const rows = await database.transaction(async (queries) => {
      // A token that is used meanwhile stays.
      const tokens = await queries.query<{ environment: Scope['environment']; viewer: string }>(
        `DELETE FROM player_tokens WHERE account_id = $1 AND used_at < $2 AND (environment, hash) IN (
          SELECT environment, hash FROM player_tokens WHERE account_id = $1 AND used_at < $2 LIMIT $3)
          RETURNING environment, viewer`,
        [accountId, new Date(nowMs - guestRetentionMs), guestsPerStep],
      );
      for (const environment of ['sandbox', 'live'] as const) {
        const scope = { accountId, environment };
        const own = tokens.filter((row) => row.environment === environment);
        const viewers = [...new Set(own.map(({ viewer }) => viewer))];
        await lockViewers(queries, scope, viewers, nowMs);
        await deleteWallets(queries, scope, viewers);
        await queries.query(
          'DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer = ANY ($3::text[])',
          [accountId, environment, viewers],
        );
      }
      return tokens;
    });
    deleted += rows.length;
    if (rows.length < guestsPerStep) return deleted;
  }
  return deleted;
}
