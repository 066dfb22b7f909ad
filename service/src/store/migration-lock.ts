import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../platform/time.ts';
import { describeBlockers, isLockTimeout } from './database-errors.ts';
import type { Database, Queries } from './database.ts';

interface LockOptions {
  onWait: ((text: string) => void) | undefined;
  waitMs: number;
}

/**
 * How long an attempt waits for a table lock. A waiting attempt blocks every later statement on the table, so it fails
 * early and is retried after `retryDelayMs`.
 */
const lockTimeoutMs = 2_000;
const findBlockersAfterMs = 1_000;
const retryDelayMs = 1_000;

/**
 * Runs `work` in a transaction that holds the migration lock. Waits for the lock if another process holds it.
 *
 * @throws Error when the lock is not acquired within `waitMs`. The message names the session that blocks it.
 */
export async function withMigrationLock<T>(
  database: Database,
  { onWait, waitMs }: LockOptions,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const startedAtMs = monotonicMs();
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
      if (monotonicMs() - startedAtMs >= waitMs) throw createBlockedError(blockers, waitMs);
      onWait?.(`migration blocked by ${blockers}`);
    } finally {
      watch.stop();
    }
    await sleep(retryDelayMs);
  }
}

/**
 * Creates a watch that uses a second connection to look up the blocking sessions while a transaction waits for a lock.
 */
function createBlockerWatch(database: Database) {
  let timer: NodeJS.Timeout | undefined;
  let blockers = Promise.resolve('an unknown session');
  return {
    async start(queries: Queries): Promise<void> {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      timer = setTimeout(() => {
        const fallback = blockers;
        // The lookup fails on engines without `pg_stat_activity`.
        blockers = describeBlockers(database, row?.pid).catch(() => fallback);
      }, findBlockersAfterMs);
    },
    blockers: () => blockers,
    stop: () => clearTimeout(timer),
  };
}

const createBlockedError = (blockers: string, waitMs: number): Error =>
  new Error(
    `The migration was blocked for ${waitMs / 1_000} s (MIGRATION_WAIT_S) by ${blockers}. ` +
      'Wait for that session to end, or terminate it with SELECT pg_terminate_backend(<pid>), then start again. ' +
      'SELECT * FROM pg_stat_activity lists all sessions.',
  );
