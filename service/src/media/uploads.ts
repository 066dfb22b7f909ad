import type { Logger } from 'pino';
import { serviceAccount } from '../key/service-secrets.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../store/database.ts';
import type { MediaStore } from './media-store.ts';

/** The uploaded files, and which of them no creative names. */
export interface Uploads {
  /** Before a file is stored: it is kept for 30 days from now on, whether it is used or not. */
  note(name: string): Promise<void>;
  /** Removes files that no creative has named for 30 days, until `signal` aborts; hands back their names. */
  removeUnused(signal?: AbortSignal): Promise<string[]>;
}

interface Parts {
  database: Database;
  store: MediaStore;
  clock: Clock;
  log: Logger;
}

/** Longer than any decision lives, and than a form stays open. */
const keepUnusedMs = 30 * 86_400_000;
/** In one go, so that a store that is slow, or counts requests, is not flooded. */
const atOnce = 100;

export function createUploads({ database, store, clock, log }: Parts): Uploads {
  const now = () => new Date(clock.nowMs());
  return {
    async note(name) {
      await database.query(
        `INSERT INTO uploads (account_id, name, unused_since) VALUES ($1, $2, $3)
          ON CONFLICT (account_id, name) DO UPDATE SET unused_since = excluded.unused_since`,
        [serviceAccount, name, now()],
      );
    },
    async removeUnused(signal) {
      await markUnused(database, now());
      const before = new Date(clock.nowMs() - keepUnusedMs);
      const due = await database.query<{ name: string }>(
        `SELECT name FROM uploads WHERE account_id = $1 AND unused_since <= $2
          ORDER BY unused_since LIMIT $3`,
        [serviceAccount, before, atOnce],
      );
      const removed: string[] = [];
      for (const { name } of due) {
        if (signal?.aborted === true) break;
        try {
          if (await remove({ database, store }, name, before)) removed.push(name);
        } catch (error) {
          log.warn({ err: error, name }, 'an unused file could not be removed');
        }
      }
      return removed;
    },
  };
}

/** Since when nothing names a file; nothing is written of those with which all is as before. */
async function markUnused(database: Database, now: Date): Promise<void> {
  await database.query(
    `WITH used AS (
        SELECT DISTINCT found[1] AS name
        FROM resources, regexp_matches(document::text, '[0-9a-f]{64}\\.[a-z0-9]+', 'g') AS found
        WHERE kind = 'creative' AND archived_at IS NULL)
      UPDATE uploads SET unused_since = CASE WHEN unused_since IS NULL THEN $2::timestamptz END
        WHERE account_id = $1 AND (unused_since IS NULL) <> (name IN (SELECT name FROM used))`,
    [serviceAccount, now],
  );
}

/**
 * The row is held until the file is gone: who uploads the same one meanwhile waits in `note`, and
 * stores it anew. A file that could not be removed keeps its row, and is tried again.
 */
const remove = (
  { database, store }: Pick<Parts, 'database' | 'store'>,
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
