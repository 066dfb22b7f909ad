import { setTimeout as sleep } from 'node:timers/promises';
import { describeBlockers } from './blockers.ts';
import type { Database, Queries } from './database.ts';
import { isLockTimeout } from './is-unavailable.ts';

interface Waiting {
  onWait: ((text: string) => void) | undefined;
  waitMs: number;
}

/**
 * A change of a table waits for whoever uses it, and everybody else waits behind it: so it waits
 * briefly, lets the others pass, and tries again.
 */
const lockTimeoutMs = 2_000;
const lookAfterMs = 1_000;
const pauseMs = 1_000;

/**
 * Runs `work` in a transaction while no other process does; one that runs already is waited for.
 *
 * @throws Error that names the session in the way, when it stays there for `waitMs`.
 */
export async function withMigrationLock<T>(
  database: Database,
  { onWait, waitMs }: Waiting,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const look = lookForBlockers(database);
    try {
      return await database.transaction(
        async (queries) => {
          await look.start(queries);
          await queries.query(`SET LOCAL lock_timeout = ${Math.min(lockTimeoutMs, waitMs)}`);
          await queries.query(
            `INSERT INTO migration_lock VALUES ('service')
              ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id`,
          );
          return work(queries);
        },
        { unhurried: true },
      );
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const found = await look.found();
      if (performance.now() - startedMs >= waitMs) throw blocked(found, waitMs);
      onWait?.(`waiting to change the tables: ${found}`);
    } finally {
      look.stop();
    }
    await sleep(pauseMs);
  }
}

/** Asks, on another connection and while the transaction still waits, for whom it waits. */
function lookForBlockers(database: Database) {
  let timer: NodeJS.Timeout | undefined;
  let found = Promise.resolve('another session, which could not be seen');
  return {
    async start(queries: Queries): Promise<void> {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      timer = setTimeout(() => {
        const before = found;
        // Some engines have no such view: then it stays unseen.
        found = describeBlockers(database, row?.pid).catch(() => before);
      }, lookAfterMs);
    },
    found: () => found,
    stop: () => clearTimeout(timer),
  };
}

const blocked = (found: string, waitMs: number): Error =>
  new Error(
    `The tables could not be changed within ${waitMs / 1_000} s (MIGRATION_WAIT_S): in the way is ${found}. ` +
      'Wait until it is done, or end it with SELECT pg_terminate_backend(<session>), then start again. ' +
      'SELECT * FROM pg_stat_activity shows all sessions.',
  );
