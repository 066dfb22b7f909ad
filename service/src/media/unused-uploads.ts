import type { Logger } from 'pino';
import { serviceAccount } from '../access/secret-box.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import type { Quotas } from '../store/quotas.ts';
import type { Tracing } from '../trace/tracing.ts';
import type { MediaStore } from './media-store.ts';

/** Tracks uploaded files and deletes those that no creative uses. */
export interface Uploads {
  /**
   * Records an account's upload, so that the file is kept for at least 30 days. Must be called before the file is stored.
   *
   * @throws DomainError `quota_exceeded` when the account stores too much.
   */
  record(accountId: string, file: { name: string; bytes: number }): Promise<void>;
  /** Deletes files that no creative has used for 30 days. Returns their names. Stops when `signal` aborts. */
  removeUnused(signal?: AbortSignal): Promise<string[]>;
}

interface UploadDeps {
  database: Database;
  store: MediaStore;
  quotas: Quotas;
  clock: Clock;
  log: Logger;
}

/** How long unused files are kept. Decisions and open forms in the panel may still refer to them. */
const retentionMs = 30 * 86_400_000;
/** Maximum number of files to delete per sweep, because a bucket may be slow or rate-limited. */
const batchSize = 100;

export function createUploads({ database, store, quotas, clock, log }: UploadDeps): Uploads {
  const now = () => new Date(clock.nowMs());
  return {
    async record(accountId, { name, bytes }) {
      const known = await database.query(
        'SELECT name FROM uploads WHERE account_id = $1 AND name = $2',
        [accountId, name],
      );
      const options = { added: bytes / 1_048_576 };
      if (known.length === 0) await quotas.check(database, accountId, 'media_mb', options);
      // The row of the service stands for the file, and the account's row for what counts toward its quota.
      await database.query(
        `INSERT INTO uploads (account_id, name, bytes, unused_since) VALUES ($1, $2, $4, $3), ($5, $2, $4, $3)
          ON CONFLICT (account_id, name) DO UPDATE SET unused_since = excluded.unused_since`,
        [serviceAccount, name, now(), bytes, accountId],
      );
    },
    async removeUnused(signal) {
      await markUnused(database, now());
      const cutoff = new Date(clock.nowMs() - retentionMs);
      await database.query('DELETE FROM uploads WHERE account_id <> $1 AND unused_since <= $2', [
        serviceAccount,
        cutoff,
      ]);
      const dueUploads = await database.query<{ name: string }>(
        `SELECT name FROM uploads WHERE account_id = $1 AND unused_since <= $2
          ORDER BY unused_since LIMIT $3`,
        [serviceAccount, cutoff, batchSize],
      );
      const removed: string[] = [];
      for (const { name } of dueUploads) {
        if (signal?.aborted === true) break;
        try {
          if (await remove({ database, store }, name, cutoff)) removed.push(name);
        } catch (error) {
          log.warn({ err: error, name }, 'could not delete an unused media file');
        }
      }
      return removed;
    },
  };
}

/** Updates `unused_since` for files that have become unused or are used again, by each account and by all of them. */
async function markUnused(database: Database, now: Date): Promise<void> {
  await database.query(
    `WITH used AS (
        SELECT DISTINCT account_id, found[1] AS name
        FROM resources, regexp_matches(document::text, '[0-9a-f]{64}\\.[a-z0-9]+', 'g') AS found
        WHERE kind = 'creative' AND archived_at IS NULL)
      UPDATE uploads SET unused_since = CASE WHEN unused_since IS NULL THEN $2::timestamptz END
        WHERE (unused_since IS NULL) <> ((account_id, name) IN (
          SELECT account_id, name FROM used UNION SELECT $1, name FROM used))`,
    [serviceAccount, now],
  );
}

/**
 * Deletes a file and its row. Holds the row lock until the file is deleted. A concurrent upload of the same file waits
 * for the lock in `record`, and then stores the file again. If the deletion fails, the next sweep retries it.
 */
const remove = (
  { database, store }: Pick<UploadDeps, 'database' | 'store'>,
  name: string,
  before: Date,
): Promise<boolean> =>
  database.transaction(async (queries) => {
    const rows = await queries.query(
      `DELETE FROM uploads WHERE account_id = $1 AND name = $2 AND unused_since <= $3
          AND NOT EXISTS (SELECT 1 FROM resources
            WHERE kind = 'creative' AND archived_at IS NULL AND document::text LIKE '%' || $2 || '%')
        RETURNING name`,
      [serviceAccount, name, before],
    );
    if (rows.length === 0) return false;
    await store.remove(name);
    return true;
  });

const sweepIntervalMs = 3_600_000;

/** Deletes unused files immediately and then every hour. Safe to run in several processes. */
export function startUploadSweep(
  uploads: Uploads,
  log: Logger,
  tracing: Pick<Tracing, 'run'>,
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const sweep = async (): Promise<void> => {
    try {
      const removed = await tracing.run({ name: 'upkeep unused files' }, () =>
        uploads.removeUnused(stopped.signal),
      );
      if (removed.length > 0) log.info({ removed }, 'unused media files deleted');
    } catch (error) {
      log.warn({ err: error }, 'could not delete unused media files; retrying in 1 h');
    }
  };
  let running = sweep();
  const timer = setInterval(() => {
    running = sweep();
  }, sweepIntervalMs);
  timer.unref();
  return {
    async stop() {
      stopped.abort();
      clearInterval(timer);
      await running;
    },
  };
}
