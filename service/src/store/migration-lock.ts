import { setTimeout as sleep } from 'node:timers/promises';
import { describeBlockers } from './blockers.ts';
import type { Database, Queries } from './database.ts';
import { isLockTimeout } from './database-errors.ts';

interface LockOptions {
  onWait: ((text: string) => void) | undefined;
  waitMs: number;
}

/**
 * How long each attempt waits for a table lock. While a schema change waits, every later statement on the table has to
 * wait behind it. Therefore, the migration gives up early, lets those statements run, and retries after `retryDelayMs`.
 */
const lockTimeoutMs = 2_000;
const findBlockersAfterMs = 1_000;
const retryDelayMs = 1_000;

/**
 * Runs `work` in a transaction that holds the migration lock, waiting while another process holds the lock.
 *
 * @throws Error that names the blocking session, if the lock is not acquired within `waitMs`.
 */
export async function withMigrationLock<T>(
  database: Database,
  { onWait, waitMs }: LockOptions,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const watch = createBlockerWatch(database);
    try {
      return await database.transaction(
        async (queries) => {
          await watch.start(queries);
          await queries.query(`SET LOCAL lock_timeout = ${Math.min(lockTimeoutMs, waitMs)}`);
          await queries.query(
            `INSERT INTO migration_lock VALUES ('service')
              ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id`,
          );
          return work(queries);
        },
        { noTimeout: true },
      );
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const blockers = await watch.blockers();
      if (performance.now() - startedMs >= waitMs) throw createBlockedError(blockers, waitMs);
      onWait?.(`migration blocked by ${blockers}`);
    } finally {
      watch.stop();
    }
    await sleep(retryDelayMs);
  }
}

/** Looks up the blocking sessions on another connection, while the transaction is still waiting. */
function createBlockerWatch(database: Database) {
  let timer: NodeJS.Timeout | undefined;
  let blockers = Promise.resolve('an unknown session');
  return {
    async start(queries: Queries): Promise<void> {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      timer = setTimeout(() => {
        const before = blockers;
        // Some engines don't have the view. In that case, the session is reported as unknown.
        blockers = describeBlockers(database, row?.pid).catch(() => before);
      }, findBlockersAfterMs);
    },
    blockers: () => blockers,
    stop: () => clearTimeout(timer),
  };
}

const createBlockedError = (blockers: string, waitMs: number): Error =>
  new Error(
    `The migration was blocked for ${waitMs / 1_000} s (MIGRATION_WAIT_S) by ${blockers}. ` +
      'Wait until that session is done, or end it with SELECT pg_terminate_backend(<session>), then start again. ' +
      'SELECT * FROM pg_stat_activity lists all sessions.',
  );
