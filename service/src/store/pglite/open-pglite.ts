import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { acquireDirectoryLock, DirectoryInUseError } from '../directory-lock.ts';
import type { Database, Queries, Row } from '../database.ts';
import { makeDataFolder, publishFile, syncTree } from '../../platform/durable-files.ts';
import { monotonicMs } from '../../platform/time.ts';
import { startDatabaseThread } from './database-thread.ts';
import { createTurns, type Priority } from './turns.ts';

/** Larger batches cost less per item: a transaction takes 0.4 ms with one decision and 0.5 ms with 27 decisions. */
const gatherMs = 3;

/** Thrown when the embedded database can't be created or opened. */
export class EmbeddedDatabaseError extends Error {
  constructor(directory: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `The database in ${directory} could not be opened: ${reason}. Check that the folder is on a local disk ` +
        'that this user may write to, or set TRUEWARD_DATA_DIR to another folder. If the files are damaged, ' +
        'restore a backup.',
      { cause },
    );
    this.name = 'EmbeddedDatabaseError';
  }
}

/**
 * Opens the embedded database in `directory`. Creates the database if it does not exist.
 *
 * @throws DirectoryInUseError when another process has opened the database.
 * @throws EmbeddedDatabaseError when the database can't be opened.
 */
export async function openPGlite(directory: string, onInitialize: () => void): Promise<Database> {
  try {
    return await lockAndServe(directory, onInitialize);
  } catch (error) {
    if (error instanceof DirectoryInUseError) throw error;
    throw new EmbeddedDatabaseError(directory, error);
  }
}

async function lockAndServe(directory: string, onInitialize: () => void): Promise<Database> {
  makeDataFolder(dirname(directory));
  const lock = acquireDirectoryLock(`${directory}.lock`);
  try {
    if (!existsSync(join(directory, 'PG_VERSION'))) {
      onInitialize();
      await initializeCluster(directory);
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
    (await thread.send({ kind: 'query', text, params })) as T[];

  // There is only one connection, so calls outside a transaction wait until the transaction has ended.
  const turns = createTurns(monotonicMs);
  const queries: Queries = { query: run, execute: run };
  const open = (priority: Priority): Database => {
    const query = <T = Row>(text: string, params?: readonly unknown[]) =>
      turns.take(priority, () => run<T>(text, params));
    return {
      query,
      execute: query,
      gatherMs,
      transaction: (work, { preferIndexes = false } = {}) =>
        turns.take(priority, async () => {
          await run('BEGIN');
          try {
            if (preferIndexes) await run('SET LOCAL enable_seqscan = off');
            const result = await work(queries);
            await run('COMMIT');
            return result;
          } catch (error) {
            await run('ROLLBACK');
            throw error;
          }
        }),
      close: () =>
        turns.take('background', async () => {
          await thread.send({ kind: 'close' });
          await thread.terminate();
          release();
        }),
    };
  };
  return { ...open('serving'), reads: open('reads'), background: open('background') };
}

/**
 * Creates an empty cluster in `directory`. Renames the folder at the end, so that an interrupted attempt doesn't leave
 * an incomplete database. Runs in a separate thread, so that the 400 MB it uses is freed when the thread exits.
 */
export async function initializeCluster(directory: string): Promise<void> {
  const draft = `${directory}.new`;
  rmSync(draft, { recursive: true, force: true });
  const thread = await startDatabaseThread({ directory: draft, mode: 'initialize' });
  await thread.terminate();
  restrictModes(draft);
  syncTree(draft);
  await publishFile(draft, directory);
}

/** Restricts access to the files. PGlite ignores the umask and creates them with mode 0666. */
function restrictModes(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}
