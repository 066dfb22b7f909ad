import { serviceAccount } from '../key/service-secrets.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';

/** How long what grows is kept, in milliseconds; undefined: for ever. */
export interface Keep {
  /** Decisions and their events, and webhook events. */
  decisionsMs: number | undefined;
  /** The audit trail. */
  auditMs: number | undefined;
  /** Where old weeks are archived; with it, only those that are archived are dropped. */
  archiveDirectory: string | undefined;
}

const dayMs = 86_400_000;

/** A repetition gets the first answer for so long, and a failed sign-in counts for so long. */
const keptMs = dayMs;
const rowsAtOnce = 1_000;

interface Sweep {
  table: string;
  /** What tells its rows apart, beside the account. */
  key: string;
  /** The rows to remove; `$3` is the bound. */
  where: string;
  bound: string;
}

/**
 * Removes what is too old, account by account and a thousand rows at a time, so that nobody waits for
 * it for long. Hands back how many rows of which table; stops early when `stopping` aborts.
 */
export async function removeOldRows(
  database: Database,
  nowMs: number,
  keep: Keep,
  stopping: AbortSignal,
): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  const count = (table: string, rows: number): void => {
    if (rows > 0) removed[table] = (removed[table] ?? 0) + rows;
  };
  const rows = await database.query<{ account_id: string }>('SELECT account_id FROM accounts');
  for (const accountId of [serviceAccount, ...rows.map((row) => row.account_id)]) {
    for (const each of sweeps(nowMs, keep))
      count(each.table, await sweep(database, accountId, each, stopping));
    count('viewers', await removeOldViewers(database, accountId, nowMs, stopping));
    if (keep.decisionsMs === undefined) continue;
    const before = nowMs - keep.decisionsMs;
    count('webhook_events', await removeOldWebhookEvents(database, accountId, before, stopping));
  }
  return removed;
}

function sweeps(nowMs: number, { auditMs }: Keep): Sweep[] {
  const now = new Date(nowMs).toISOString();
  const yesterday = new Date(nowMs - keptMs).toISOString();
  return [
    {
      table: 'idempotency_keys',
      key: 'environment, key',
      where: 'created_at < $3::timestamptz',
      bound: yesterday,
    },
    { table: 'sessions', key: 'hash', where: 'expires_at < $3::timestamptz', bound: now },
    { table: 'user_links', key: 'hash', where: 'expires_at < $3::timestamptz', bound: now },
    {
      table: 'sign_in_attempts',
      key: 'subject',
      where: 'last_at < $3::timestamptz AND (known_until IS NULL OR known_until < $3::timestamptz)',
      bound: yesterday,
    },
    { table: 'live_tails', key: 'process_id', where: 'until < $3::timestamptz', bound: yesterday },
    {
      table: 'live_lines',
      key: 'process_id, position',
      where: 'created_at < $3::timestamptz',
      bound: yesterday,
    },
    {
      table: 'limit_uses',
      key: 'process_id, name',
      where: 'seen_at < $3::timestamptz',
      bound: yesterday,
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

async function sweep(
  database: Database,
  accountId: string,
  { table, key, where, bound }: Sweep,
  stopping: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (stopping.aborted) return removed;
    const rows = await database.query(
      `DELETE FROM ${table} WHERE account_id = $1 AND (${key}) IN (
        SELECT ${key} FROM ${table} WHERE account_id = $1 AND ${where} LIMIT $2) RETURNING account_id`,
      [accountId, rowsAtOnce, bound],
    );
    removed += rows.length;
    if (rows.length < rowsAtOnce) return removed;
  }
}

/** Whoever grants a reward holds the row of the user meanwhile, and makes it where it is missing. */
const viewersKeptMs = 30 * 86_400_000;
/** So many rows are looked at by one statement: an index on their time would cost with every reward. */
const viewersAtOnce = 10_000;

/** Removes the rows of users who have not been seen for 30 days; hands back how many. */
async function removeOldViewers(
  database: Database,
  accountId: string,
  nowMs: number,
  stopping: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const environment of ['sandbox', 'live']) {
    let after = '';
    for (;;) {
      if (stopping.aborted) return removed;
      const [last] = await database.query<{ viewer: string }>(
        `SELECT viewer FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer > $3
          ORDER BY viewer OFFSET $4 LIMIT 1`,
        [accountId, environment, after, viewersAtOnce - 1],
      );
      const rows = await database.query(
        `DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer > $3
          AND ($4::text IS NULL OR viewer <= $4) AND seen_at < $5 RETURNING account_id`,
        [accountId, environment, after, last?.viewer ?? null, new Date(nowMs - viewersKeptMs)],
      );
      removed += rows.length;
      if (!last) break;
      after = last.viewer;
    }
  }
  return removed;
}

const eventsAtOnce = 500;
const listed = `IN (SELECT jsonb_array_elements_text($2::text::jsonb))`;

/**
 * Removes events from before `beforeMs` with their deliveries and attempts; hands back how many events.
 * One that is still being delivered, because somebody asked for it again, waits.
 */
async function removeOldWebhookEvents(
  database: Database,
  accountId: string,
  beforeMs: number,
  stopping: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (stopping.aborted) return removed;
    const events = await database.transaction(async (queries) => {
      const rows = await queries.query<{ id: string }>(
        `SELECT id FROM webhook_events e WHERE account_id = $1 AND id < $2
          AND NOT EXISTS (SELECT 1 FROM deliveries d
            WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')
          ORDER BY id LIMIT $3`,
        [accountId, firstIdAt('webhookEvent', beforeMs), eventsAtOnce],
      );
      const ids = JSON.stringify(rows.map(({ id }) => id));
      for (const statement of [
        `DELETE FROM delivery_attempts WHERE account_id = $1 AND delivery_id IN (
          SELECT id FROM deliveries WHERE account_id = $1 AND event_id ${listed})`,
        `DELETE FROM deliveries WHERE account_id = $1 AND event_id ${listed}`,
        `DELETE FROM webhook_events WHERE account_id = $1 AND id ${listed}`,
      ])
        await queries.query(statement, [accountId, ids]);
      return rows.length;
    });
    removed += events;
    if (events < eventsAtOnce) return removed;
  }
}
