import type { Queries } from '../store/database.ts';

/**
 * Claims a maintenance job. Returns true once per `intervalMs`, in only one of the processes that share a database. If
 * that process dies, another process can claim the job after the interval.
 */
export async function claimChore(
  queries: Queries,
  name: string,
  intervalMs: number,
): Promise<boolean> {
  const insertedRows = await queries.query(
    `INSERT INTO chores (account_id, name, begun_at) VALUES ('service', $1, now())
      ON CONFLICT DO NOTHING RETURNING name`,
    [name],
  );
  if (insertedRows.length > 0) return true;
  // The update is a separate statement, because Citus doesn't allow `now()` in ON CONFLICT DO UPDATE.
  const updatedRows = await queries.query(
    `UPDATE chores SET begun_at = now() WHERE account_id = 'service' AND name = $1
        AND begun_at <= now() - $2::float8 * interval '1 millisecond' RETURNING name`,
    [name, intervalMs],
  );
  return updatedRows.length > 0;
}
