import type { Queries } from '../store/database.ts';

/**
 * Claims a maintenance job: true for one of the processes on a database, once per `intervalMs`. There is no
 * leader; if the process that claimed a job dies, the next one to ask gets it after the interval.
 */
export async function claimChore(
  queries: Queries,
  name: string,
  intervalMs: number,
): Promise<boolean> {
  const claimed = await queries.query(
    `INSERT INTO chores AS known (account_id, name, begun_at) VALUES ('service', $1, now())
      ON CONFLICT (account_id, name) DO UPDATE SET begun_at = now()
        WHERE known.begun_at <= now() - $2::float8 * interval '1 millisecond'
      RETURNING name`,
    [name, intervalMs],
  );
  return claimed.length > 0;
}
