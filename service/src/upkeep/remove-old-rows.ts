import { serviceAccount } from '../key/service-secrets.ts';
import { firstIdAt } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';
import type { Keep } from './keep.ts';
import { removeOldViewers } from './remove-old-viewers.ts';
import { removeOldWebhookEvents } from './remove-old-webhook-events.ts';

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
