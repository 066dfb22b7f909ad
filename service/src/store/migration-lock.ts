import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries } from './database.ts';

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

const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';

const blockersOf = `SELECT pid, application_name AS name, state, query,
    to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
  FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY xact_start`;

interface Blocker {
  pid: number;
  name: string;
  state: string;
  query: string;
  since: string;
}

/** Asks, on another connection and while the transaction still waits, for whom it waits. */
function lookForBlockers(database: Database) {
  let timer: NodeJS.Timeout | undefined;
  let found = Promise.resolve('another session, which could not be seen');
  const read = async (pid: number | undefined): Promise<string> => {
    const blockers = await database.query<Blocker>(blockersOf, [pid]);
    const described = blockers.map(
      ({ pid: other, name, state, query, since }) =>
        `session ${other} (${name || 'unnamed'}, ${state} since ${since}: ${query.replaceAll(/\s+/g, ' ').slice(0, 100)})`,
    );
    return described.length > 0 ? described.join(', ') : 'a session that is gone by now';
  };
  return {
    async start(queries: Queries): Promise<void> {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      timer = setTimeout(() => {
        const before = found;
        // Some engines have no such view: then it stays unseen.
        found = read(row?.pid).catch(() => before);
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
