import { firstIdAt } from '../platform/ids.ts';
import { childRetentionMs } from '../store/account-retention.ts';
import type { Queries, Scope } from '../store/database.ts';
import { lockViewers } from '../store/lock-viewers.ts';
import type { JobStep } from './jobs.ts';

/** Number of rows that a step deletes. */
const rowsPerStep = 200;

interface IdRow {
  environment: string;
  id: string;
}

/** Deletes webhook events with their deliveries. */
async function deleteEvents(
  queries: Queries,
  accountId: string,
  rows: readonly IdRow[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  for (const table of ['delivery_queue', 'finished_deliveries'])
    await queries.query(`DELETE FROM ${table} WHERE account_id = $1 AND event_id = ANY ($2)`, [
      accountId,
      ids,
    ]);
  await queries.query(
    `DELETE FROM webhook_events WHERE account_id = $1 AND (environment, id) IN (
      SELECT unnest($2::text[]), unnest($3::text[]))`,
    [accountId, rows.map(({ environment }) => environment), ids],
  );
}

/** Deletes decisions with everything that belongs to them. */
async function deleteDecisions(
  queries: Queries,
  accountId: string,
  rows: readonly IdRow[],
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  for (const table of ['timelines', 'decision_demand', 'tracker_requests'])
    await queries.query(`DELETE FROM ${table} WHERE account_id = $1 AND decision_id = ANY ($2)`, [
      accountId,
      ids,
    ]);
  await queries.query(
    `DELETE FROM decisions WHERE account_id = $1 AND (environment, id) IN (
      SELECT unnest($2::text[]), unnest($3::text[]))`,
    [accountId, rows.map(({ environment }) => environment), ids],
  );
}

/**
 * Deletes a player's webhook events, then the player's decisions, and at last the wallet and devices, up to the time at which the job was created: what the
 * player does later is new. The player is identified by the pseudonym, a keyed hash of the `user_ref`, so the job itself
 * doesn't name the player. Counts in reports stay, because they name nobody.
 */
export const erasePlayer: JobStep = async (queries, { scope, request, createdAtMs }) => {
  const { accountId, environment } = scope;
  const { viewer = '' } = request;
  const find = (table: string, endId: string) =>
    queries.query<IdRow>(
      `SELECT environment, id FROM ${table}
        WHERE viewer = $1 AND account_id = $2 AND environment = $3 AND id < $4
        ORDER BY id LIMIT ${rowsPerStep} FOR UPDATE`,
      [viewer, accountId, environment, endId],
    );
  const events = await find('webhook_events', firstIdAt('webhookEvent', createdAtMs + 1));
  if (events.length > 0) {
    await deleteEvents(queries, accountId, events);
    return { cursor: null, progress: 0, counts: { events: events.length } };
  }
  const decisions = await find('decisions', firstIdAt('decision', createdAtMs + 1));
  if (decisions.length > 0) {
    await deleteDecisions(queries, accountId, decisions);
    return { cursor: null, progress: 0.5, counts: { decisions: decisions.length } };
  }
  await lockViewers(queries, scope, [viewer], createdAtMs);
  const tokens = await queries.query(
    'DELETE FROM player_tokens WHERE account_id = $1 AND environment = $2 AND viewer = $3 RETURNING viewer',
    [accountId, environment, viewer],
  );
  const entries = await deleteWallets(queries, scope, [viewer]);
  await queries.query(
    'DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer = $3',
    [accountId, environment, viewer],
  );
  const counts = {
    ...(tokens.length > 0 && { devices: tokens.length }),
    ...(entries > 0 && { wallet_entries: entries }),
  };
  return { cursor: null, progress: 1, end: 'done', counts };
};

/**
 * Deletes the wallets of players who have no device any more. Returns the number of entries. The players of an erasure
 * must be locked.
 */
export async function deleteWallets(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: readonly string[],
): Promise<number> {
  if (viewers.length === 0) return 0;
  const remove = (table: string) =>
    queries.query(
      `DELETE FROM ${table} WHERE account_id = $1 AND environment = $2 AND viewer = ANY ($3::text[])
        AND NOT EXISTS (SELECT FROM player_tokens t WHERE t.account_id = $1 AND t.environment = $2
          AND t.viewer = ${table}.viewer) RETURNING viewer`,
      [accountId, environment, viewers],
    );
  await remove('link_codes');
  await remove('wallet_balances');
  return (await remove('wallet_entries')).length;
}

/**
 * Deletes some of an account's rows that are too old: child-directed ones after 30 days, all after `retentionMs`, if that
 * is defined. Returns how many of each there were.
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
