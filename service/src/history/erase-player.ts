import { firstIdAt } from '../platform/ids.ts';
import type { Queries } from '../store/database.ts';
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
 * Deletes a player's webhook events, then the player's decisions, up to the time at which the job was created: what the
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
  await queries.query(
    'DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer = $3',
    [accountId, environment, viewer],
  );
  return { cursor: null, progress: 1, end: 'done' };
};

/** How long data of child-directed requests is kept at most. */
const childRetentionMs = 30 * 86_400_000;

/** Deletes some of an account's child-directed rows that are too old. Returns how many of each there were. */
export async function deleteOldChildRows(
  queries: Queries,
  accountId: string,
  nowMs: number,
): Promise<{ events: number; decisions: number }> {
  const find = (table: string, endId: string) =>
    queries.query<IdRow>(
      `SELECT environment, id FROM ${table} WHERE account_id = $1 AND child_directed AND id < $2
        ORDER BY id LIMIT ${rowsPerStep} FOR UPDATE`,
      [accountId, endId],
    );
  const beforeMs = nowMs - childRetentionMs;
  const events = await find('webhook_events', firstIdAt('webhookEvent', beforeMs));
  const decisions = await find('decisions', firstIdAt('decision', beforeMs));
  await deleteEvents(queries, accountId, events);
  await deleteDecisions(queries, accountId, decisions);
  return { events: events.length, decisions: decisions.length };
}
