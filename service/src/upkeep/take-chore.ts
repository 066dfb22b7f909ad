import type { Queries } from '../store/database.ts';

/**
 * Whether this process shall do a chore now: of all on one database, one gets it in `everyMs`. None of
 * them leads, and one that dies over it is followed by whoever asks next.
 */
export async function takeChore(queries: Queries, name: string, everyMs: number): Promise<boolean> {
  const taken = await queries.query(
    `INSERT INTO chores AS known (account_id, name, begun_at) VALUES ('service', $1, now())
      ON CONFLICT (account_id, name) DO UPDATE SET begun_at = now()
        WHERE known.begun_at <= now() - $2::float8 * interval '1 millisecond'
      RETURNING name`,
    [name, everyMs],
  );
  return taken.length > 0;
}
