import type { Queries } from '../store/database.ts';

/**
 * Claims a maintenance job. Returns true once per `intervalMs`, in only one of the processes that share a database. If
 * that process dies, another process can claim the job after the interval.
 */
export async function claimChore(
  queries: Queries,
  name: string,
  intervalMs: number,
  nowMs: number,
): Promise<boolean> {
  const insertedRows = await queries.query(
    `INSERT INTO chores (account_id, name, begun_at) VALUES ('service', $1, $2)
      ON CONFLICT DO NOTHING RETURNING name`,
    [name, new Date(nowMs)],
  );
  if (insertedRows.length > 0) return true;
  const updatedRows = await queries.query(
    `UPDATE chores SET begun_at = $2 WHERE account_id = 'service' AND name = $1 AND begun_at <= $3 RETURNING name`,
    [name, new Date(nowMs), new Date(nowMs - intervalMs)],
  );
  return updatedRows.length > 0;
}
