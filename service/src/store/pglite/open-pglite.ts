import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { takeDirectoryLock } from '../directory-lock.ts';
import type { Database, Queries, Row } from '../database.ts';
import { startDatabaseThread } from './database-thread.ts';
import { initialise } from './initialise.ts';

/** A transaction of one decision takes 0.4 ms here, and one of 27 little more: 0.5. */
const gatherMs = 3;

/**
 * Opens the embedded database in `directory`, and makes it first where there is none.
 *
 * @throws DirectoryInUseError when another process has it open: two would lose each other's rows.
 */
export async function openPGlite(directory: string, onInitialise: () => void): Promise<Database> {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
  const lock = takeDirectoryLock(`${directory}.lock`);
  try {
    if (!existsSync(join(directory, 'PG_VERSION'))) {
      onInitialise();
      await initialise(directory);
    }
    return await serve(directory, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function serve(directory: string, release: () => void): Promise<Database> {
  const thread = await startDatabaseThread({ directory, mode: 'serve' });
  const run = async <T>(text: string, params: readonly unknown[] = []): Promise<T[]> =>
    (await thread.ask({ kind: 'query', text, params })) as T[];

  // There is one connection: whoever has the turn has it until the end of the transaction.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined); // the caller has the rejection; the next one goes on
    return result;
  };
  const alone = <T = Row>(text: string, params?: readonly unknown[]) =>
    inTurn(() => run<T>(text, params));
  const queries: Queries = { query: run, execute: run };

  return {
    query: alone,
    execute: alone,
    gatherMs,
    transaction: (work, { byIndex = false } = {}) =>
      inTurn(async () => {
        await run('BEGIN');
        try {
          if (byIndex) await run('SET LOCAL enable_seqscan = off');
          const result = await work(queries);
          await run('COMMIT');
          return result;
        } catch (error) {
          await run('ROLLBACK');
          throw error;
        }
      }),
    close: () =>
      inTurn(async () => {
        await thread.ask({ kind: 'close' });
        await thread.end();
        release();
      }),
  };
}
