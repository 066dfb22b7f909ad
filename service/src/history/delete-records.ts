import type { Queries, Scope } from '../store/database.ts';

/** Number of decisions or events that a transaction deletes, with what belongs to them. */
export const rowsPerStep = 200;

/** A decision or a webhook event of an account. */
export interface IdRow {
  environment: string;
  id: string;
}

/** Deletes webhook events with their deliveries. */
export async function deleteEvents(
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
export async function deleteDecisions(
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
