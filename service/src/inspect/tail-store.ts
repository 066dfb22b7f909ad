import type { Queries } from '../store/database.ts';

/** One thing that was recorded in the sandbox. */
export interface LiveLine {
  event: 'decision' | 'event';
  data: object;
}

/** A page shows as many. */
const mostLines = 500;

/** A line as it is on its way to other processes. */
export interface SentLine {
  account_id: string;
  position: number;
  event: LiveLine['event'];
  data: string;
}

/**
 * What the processes tell each other of the live tail, as it is seen by one of them. All times are those
 * of the database: the clocks of the machines need not agree.
 */
export interface TailStore {
  write(lines: readonly SentLine[]): Promise<void>;
  /** The newest of the last ten seconds that others wrote, in their order. */
  read(accountId: string): Promise<(LiveLine & { key: string })[]>;
  /** Has the others write for ten seconds more, and clears away what is past. */
  announce(accountId: string): Promise<void>;
  /** Whether another one has announced itself. */
  isWatched(accountId: string): Promise<boolean>;
}

/** @param processId What no other process calls itself. */
export function createTailStore(database: Queries, processId: string): TailStore {
  return {
    async write(lines) {
      await database.query(
        `INSERT INTO live_lines (account_id, process_id, position, event, data, created_at)
          SELECT account_id, $1, position, event, data, now()
          FROM jsonb_to_recordset($2::text::jsonb) AS row(account_id text, position bigint, event text, data text)`,
        [processId, JSON.stringify(lines)],
      );
    },
    async read(accountId) {
      const rows = await database.query<{ key: string; event: LiveLine['event']; data: string }>(
        `SELECT process_id || '/' || position AS key, event, data FROM live_lines
          WHERE account_id = $1 AND process_id <> $2 AND created_at > now() - interval '10 seconds'
          ORDER BY created_at DESC, process_id, position DESC LIMIT $3`,
        [accountId, processId, mostLines],
      );
      return rows.toReversed().map((row) => ({ ...row, data: JSON.parse(row.data) as object }));
    },
    async announce(accountId) {
      const renewed = await database.query(
        `INSERT INTO live_tails (account_id, process_id, until) VALUES ($1, $2, now() + interval '10 seconds')
          ON CONFLICT (account_id, process_id) DO UPDATE SET until = excluded.until
            WHERE live_tails.until < now() + interval '5 seconds'
          RETURNING until`,
        [accountId, processId],
      );
      if (renewed.length > 0) await clearAway(database, accountId);
    },
    async isWatched(accountId) {
      const rows = await database.query(
        'SELECT until FROM live_tails WHERE account_id = $1 AND process_id <> $2 AND until > now() LIMIT 1',
        [accountId, processId],
      );
      return rows.length > 0;
    },
  };
}

async function clearAway(database: Queries, accountId: string): Promise<void> {
  await database.query(
    `DELETE FROM live_lines WHERE account_id = $1 AND created_at < now() - interval '1 minute'`,
    [accountId],
  );
  await database.query(
    `DELETE FROM live_tails WHERE account_id = $1 AND until < now() - interval '1 minute'`,
    [accountId],
  );
}
