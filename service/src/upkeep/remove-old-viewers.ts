import type { Database } from '../store/database.ts';

/** Whoever grants a reward holds the row of the user meanwhile, and makes it where it is missing. */
const keptMs = 30 * 86_400_000;
/** So many rows are looked at by one statement: an index on their time would cost with every reward. */
const rowsAtOnce = 10_000;

/** Removes the rows of users who have not been seen for 30 days; hands back how many. */
export async function removeOldViewers(
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
        [accountId, environment, after, rowsAtOnce - 1],
      );
      const rows = await database.query(
        `DELETE FROM viewers WHERE account_id = $1 AND environment = $2 AND viewer > $3
          AND ($4::text IS NULL OR viewer <= $4) AND seen_at < $5 RETURNING account_id`,
        [accountId, environment, after, last?.viewer ?? null, new Date(nowMs - keptMs)],
      );
      removed += rows.length;
      if (!last) break;
      after = last.viewer;
    }
  }
  return removed;
}
