import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import { isUnavailable } from './is-unavailable.ts';

interface Notices {
  /** The disk of the database is full; writes fail until {@link Notices.onFree}. */
  onFull(error: Error): void;
  onFree(fullMs: number): void;
}

/** SQLSTATE `disk_full`. */
const diskFullState = '53100';
const probeEveryMs = 5_000;
/** 40,000 rows take 1.4 MB; a disk with less room than that is full. */
const probeStatement =
  'CREATE TEMP TABLE disk_probe ON COMMIT DROP AS SELECT generate_series(1, 40000)';

export const isDiskFull = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === diskFullState;

/**
 * Reports once, not for each request, that the disk of the database is full. Then probes with a write every
 * 5 s: a process that is not ready gets no requests that would show that there is room again.
 */
export function watchDisk(database: Database, { onFull, onFree }: Notices): Database {
  let fullSinceMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const probe = async (): Promise<void> => {
    try {
      await database.transaction((queries) => queries.query(probeStatement));
    } catch (error) {
      // Still full, or the database does not answer.
      if (isUnavailable(error)) return schedule();
      // A role that may not create temporary tables cannot probe: the next write tells.
    }
    if (!closed && fullSinceMs !== undefined) onFree(performance.now() - fullSinceMs);
    fullSinceMs = undefined;
  };
  const schedule = (): void => {
    if (!closed) timer = setTimeout(() => void probe(), probeEveryMs);
  };
  const watch = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (isDiskFull(error) && fullSinceMs === undefined) {
        fullSinceMs = performance.now();
        onFull(error);
        schedule();
      }
      throw error;
    }
  };

  return {
    ...database,
    isFull: () => fullSinceMs !== undefined,
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      watch(() => database.query<T>(text, params)),
    execute: <T = Row>(text: string, params: readonly (string | Buffer)[]) =>
      watch(() => database.execute<T>(text, params)),
    transaction: <T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions) =>
      watch(() => database.transaction(work, options)),
    close() {
      closed = true;
      clearTimeout(timer);
      return database.close();
    },
  };
}
