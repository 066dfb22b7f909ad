import { monotonicMs } from '../platform/time.ts';
import type { Database, Queries, Row, TransactionOptions } from './database.ts';
import {
  DatabaseUnreachableError,
  isDiskFull,
  isUnavailable,
  isUnreachable,
} from './database-errors.ts';

type CallKind = 'statement' | 'transaction';

/** Wraps every call to a database, except calls inside a transaction. */
function wrapCalls(
  database: Database,
  intercept: <T>(kind: CallKind, call: () => Promise<T>) => Promise<T>,
): Database {
  const { reads, changes, background } = database;
  return {
    ...database,
    ...(reads && { reads: wrapCalls(reads, intercept) }),
    ...(changes && { changes: wrapCalls(changes, intercept) }),
    ...(background && { background: wrapCalls(background, intercept) }),
    query: <T = Row>(text: string, params?: readonly unknown[]) =>
      intercept('statement', () => database.query<T>(text, params)),
    execute: <T = Row>(text: string, params: readonly unknown[]) =>
      intercept('statement', () => database.execute<T>(text, params)),
    transaction: <T>(work: (queries: Queries) => Promise<T>, options?: TransactionOptions) =>
      intercept('transaction', () => database.transaction(work, options)),
  };
}

/** Measures how long each transaction and each statement outside a transaction takes, including failures. */
export const measureCalls = (
  database: Database,
  observe: (kind: CallKind, seconds: number) => void,
): Database =>
  wrapCalls(database, async (kind, call) => {
    const startedAtMs = monotonicMs();
    try {
      return await call();
    } finally {
      observe(kind, (monotonicMs() - startedAtMs) / 1_000);
    }
  });

interface DiskNotices {
  /** Called when the database's disk is full. Writes fail until `onFree` is called. */
  onFull(error: Error): void;
  onFree(fullMs: number): void;
}

const diskProbeIntervalMs = 5_000;
/** Writes 1.4 MB. A disk with less free space counts as full. */
const diskProbe = 'CREATE TEMP TABLE disk_probe ON COMMIT DROP AS SELECT generate_series(1, 40000)';

/**
 * Reports a full database disk once, and then probes it with a write every 5 s. Requests alone can't reveal that the
 * disk has free space again: while the disk is full, the process is not ready and receives no requests.
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
      if (isUnavailable(error)) return probeLater();
      // The role may lack the privilege to create temporary tables. In that case, the next regular write shows whether
      // there is space.
    }
    if (!closed && fullSinceMs !== undefined) onFree(monotonicMs() - fullSinceMs);
    fullSinceMs = undefined;
  };
  const probeLater = (): void => {
    if (!closed) timer = setTimeout(() => void probe(), diskProbeIntervalMs);
  };

  return {
    ...wrapCalls(database, async (_kind, call) => {
      try {
        return await call();
      } catch (error) {
        if (isDiskFull(error) && fullSinceMs === undefined) {
          fullSinceMs = monotonicMs();
          onFull(error);
          probeLater();
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
  /** Called when the database is unreachable. Calls fail fast until `onRecover` is called. */
  onOutage(error: unknown): void;
  onRecover(outageMs: number): void;
}

const outageProbeIntervalMs = 500;
/**
 * Counts this role's commits that have been waiting for a synchronous standby for more than a second. These commits
 * keep waiting after their clients have timed out, and their connections count toward `max_connections`. The probe is
 * therefore read-only.
 */
// oxlint-disable-next-line trueward/one-clock -- Both of its times are from the server's own clock.
const outageProbe = `SELECT count(*)::bigint AS waiting FROM pg_stat_activity
  WHERE usename = current_user AND wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '1 second'`;

/**
 * Rejects calls with {@link DatabaseUnreachableError} while the server is unreachable or its synchronous standby
 * doesn't confirm commits. Otherwise, each request would wait for a timeout, and its statements would add to the
 * database's backlog. A probe checks twice a second whether the database has recovered.
 */
export function failFast(database: Database, { onOutage, onRecover }: OutageNotices): Database {
  let outage: { sinceMs: number; error: unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const recover = (): void => {
    if (outage && !closed) onRecover(monotonicMs() - outage.sinceMs);
    outage = undefined;
  };
  const probeLater = (): void => {
    if (!closed) timer = setTimeout(probe, outageProbeIntervalMs);
  };
  const probe = (): void => {
    database.query<{ waiting: number }>(outageProbe).then(
      ([row]) => (row !== undefined && row.waiting > 0 ? probeLater() : recover()),
      // A server that rejects the statement is reachable. Some compatible servers don't have `pg_stat_activity`.
      (error: unknown) => (isUnavailable(error) ? probeLater() : recover()),
    );
  };

  return {
    ...wrapCalls(database, async (_kind, call) => {
      if (outage) throw new DatabaseUnreachableError(outage.error);
      try {
        return await call();
      } catch (error) {
        if (isUnreachable(error) && !outage && !closed) {
          outage = { sinceMs: monotonicMs(), error };
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
