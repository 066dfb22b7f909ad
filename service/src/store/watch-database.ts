import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import {
  DatabaseUnreachableError,
  isDiskFull,
  isUnavailable,
  isUnreachable,
} from './database-errors.ts';

type CallKind = 'statement' | 'transaction';

/** Returns the database with every call wrapped, except calls inside a transaction. */
function wrap(
  database: Database,
  around: <T>(kind: CallKind, call: () => Promise<T>) => Promise<T>,
): Database {
  return {
    ...database,
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      around('statement', () => database.query<T>(text, params)),
    execute: <T = Row>(text: string, params: readonly unknown[]) =>
      around('statement', () => database.execute<T>(text, params)),
    transaction: <T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions) =>
      around('transaction', () => database.transaction(work, options)),
  };
}

/** Measures how long each transaction takes, and each statement outside a transaction. Failed ones are measured too. */
export const measureCalls = (
  database: Database,
  observe: (kind: CallKind, seconds: number) => void,
): Database =>
  wrap(database, async (kind, call) => {
    const startedMs = performance.now();
    try {
      return await call();
    } finally {
      observe(kind, (performance.now() - startedMs) / 1_000);
    }
  });

interface DiskNotices {
  /** Called when the database's disk is full. Writes fail until {@link DiskNotices.onFree} is called. */
  onFull(error: Error): void;
  onFree(fullMs: number): void;
}

const diskProbeIntervalMs = 5_000;
/** The 40,000 rows take up 1.4 MB. A disk with less free space than that counts as full. */
const diskProbe = 'CREATE TEMP TABLE disk_probe ON COMMIT DROP AS SELECT generate_series(1, 40000)';

/**
 * Reports a full database disk only once, rather than for each request. Then probes the disk with a write every 5 s.
 * The probe is needed because a process that isn't ready receives no requests, so none of their writes can show that
 * there is free space again.
 */
export function watchDisk(database: Database, { onFull, onFree }: DiskNotices): Database {
  let fullSinceMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const probe = async (): Promise<void> => {
    try {
      await database.transaction((queries) => queries.query(diskProbe));
    } catch (error) {
      // The disk is still full, or the database doesn't respond.
      if (isUnavailable(error)) return schedule();
      // If the role isn't allowed to create temporary tables, it can't probe the disk. The next write will show whether
      // there is space.
    }
    if (!closed && fullSinceMs !== undefined) onFree(performance.now() - fullSinceMs);
    fullSinceMs = undefined;
  };
  const schedule = (): void => {
    if (!closed) timer = setTimeout(() => void probe(), diskProbeIntervalMs);
  };

  return {
    ...wrap(database, async (_kind, call) => {
      try {
        return await call();
      } catch (error) {
        if (isDiskFull(error) && fullSinceMs === undefined) {
          fullSinceMs = performance.now();
          onFull(error);
          schedule();
        }
        throw error;
      }
    }),
    isFull: () => fullSinceMs !== undefined,
    close() {
      closed = true;
      clearTimeout(timer);
      return database.close();
    },
  };
}

interface OutageNotices {
  /**
   * Called when the database is unreachable. Calls fail immediately until {@link OutageNotices.onRecover} is called.
   */
  onOutage(error: unknown): void;
  onRecover(outageMs: number): void;
}

const outageProbeIntervalMs = 500;
/**
 * Counts this role's commits that have been waiting for a synchronous standby for longer than a round trip. Such a
 * commit keeps waiting even after its client has timed out, and its connection counts toward `max_connections`. The
 * probe must therefore not add another commit.
 */
const outageProbe = `SELECT count(*)::bigint AS waiting FROM pg_stat_activity
  WHERE usename = current_user AND wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '1 second'`;

/**
 * Rejects calls immediately with {@link DatabaseUnreachableError} while the server is unreachable, or while no
 * synchronous standby confirms its commits. Otherwise each request would wait until it times out, and requests that
 * have timed out would fill the database's queue. A probe checks twice a second whether the database has recovered.
 */
export function failFast(database: Database, { onOutage, onRecover }: OutageNotices): Database {
  let outage: { sinceMs: number; error: unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const recover = (): void => {
    if (outage && !closed) onRecover(performance.now() - outage.sinceMs);
    outage = undefined;
  };
  const retry = (): void => {
    if (!closed) timer = setTimeout(probe, outageProbeIntervalMs);
  };
  const probe = (): void => {
    database.query<{ waiting: number }>(outageProbe).then(
      ([row]) => (row !== undefined && row.waiting > 0 ? retry() : recover()),
      // If the server rejects the statement, it is reachable. Some servers that are compatible with PostgreSQL don't
      // have the view.
      (error: unknown) => (isUnavailable(error) ? retry() : recover()),
    );
  };

  return {
    ...wrap(database, async (_kind, call) => {
      if (outage) throw new DatabaseUnreachableError(outage.error);
      try {
        return await call();
      } catch (error) {
        if (isUnreachable(error) && !outage && !closed) {
          outage = { sinceMs: performance.now(), error };
          onOutage(error);
          probe();
        }
        throw error;
      }
    }),
    close() {
      closed = true;
      clearTimeout(timer);
      return database.close();
    },
  };
}
