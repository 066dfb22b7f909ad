import type { Queries } from '../store/database.ts';

/** A line of the live tail: a decision or an event in the sandbox. */
export interface LiveLine {
  event: 'decision' | 'event';
  data: object;
}

/** The panel shows as many. */
const maxLines = 500;

/** A line in transit to other processes. */
export interface SentLine {
  account_id: string;
  position: number;
  event: LiveLine['event'];
  data: string;
}

/**
 * The tables through which processes share the live tail, as used by one of them. Uses the clock of the
 * database only, since the clocks of the machines may differ.
 */
export interface TailStore {
  write(lines: readonly SentLine[]): Promise<void>;
  /** The newest lines of other processes within the last ten seconds, in order. */
  read(accountId: string): Promise<(LiveLine & { key: string })[]>;
  /** Keeps the others writing for another ten seconds, and deletes expired rows. */
  announce(accountId: string): Promise<void>;
  /** Whether another process has announced itself. */
  isWatched(accountId: string): Promise<boolean>;
}

/** @param processId The unique id of this process. */
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
        [accountId, processId, maxLines],
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
      if (renewed.length > 0) await deleteExpired(database, accountId);
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

async function deleteExpired(database: Queries, accountId: string): Promise<void> {
  await database.query(
    `DELETE FROM live_lines WHERE account_id = $1 AND created_at < now() - interval '1 minute'`,
    [accountId],
  );
  await database.query(
    `DELETE FROM live_tails WHERE account_id = $1 AND until < now() - interval '1 minute'`,
    [accountId],
  );
}
