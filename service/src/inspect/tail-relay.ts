import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Queries } from '../store/database.ts';
import { createLane } from '../store/group-commit.ts';

/** Forwards live tail lines from the processes that record them to the processes that have subscribers. */
export interface TailRelay {
  /** Returns false if no other process has subscribers to the account. */
  isWanted(accountId: string): boolean;
  broadcast(accountId: string, line: LiveLine): void;
  /** Subscribes to the lines that other processes record for an account, until `stop` is called. */
  watch(accountId: string, onLine: (line: LiveLine) => void): Watch;
  /** Resolves when all broadcast lines have been written. */
  drain(): Promise<void>;
}

export interface Watch {
  /** Resolves when all processes know about the subscription. */
  ready: Promise<void>;
  stop(): void;
}

interface Deps {
  database: Queries;
  log: Logger;
  /** The unique id of this process. */
  processId: string;
}

/** How long a process caches whether other processes have subscribers. */
const cacheMs = 1_000;
const readIntervalMs = 500;
/** Maximum number of lines waiting to be written. Further lines are dropped. */
const maxQueue = 1_000;

/**
 * Creates a relay that uses database tables, because the database is all that the processes share. `LISTEN` is not an
 * option: it doesn't work through a connection pooler in transaction mode. The relay checks for subscribers once a
 * second or less often, and writes nothing while there are none.
 */
export function createTailRelay({ database, log, processId }: Deps): TailRelay {
  const store = createTailStore(database, processId);
  const findWatchers = createWatcherCache({ store, log });
  let position = 0;
  const lane = createLane<SentLine, void>({
    maxQueue,
    async commit(lines) {
      await store.write(lines);
      return lines.map(() => undefined);
    },
  });
  const write = async (accountId: string, { event, data }: LiveLine): Promise<void> => {
    if (!(await findWatchers(accountId).result)) return;
    position += 1;
    await lane.push({ account_id: accountId, position, event, data: JSON.stringify(data) });
  };
  return {
    isWanted: (accountId) => findWatchers(accountId).isWatched !== false,
    broadcast(accountId, line) {
      write(accountId, line).catch((error: unknown) =>
        log.debug({ err: error }, 'could not write a live tail line'),
      );
    },
    watch: (accountId, onLine) => startWatch({ store, log }, accountId, onLine),
    drain: () => lane.drain(),
  };
}

interface RelayDeps {
  store: TailStore;
  log: Logger;
}

function startWatch(
  { store, log }: RelayDeps,
  accountId: string,
  onLine: (line: LiveLine) => void,
): Watch {
  const stopped = new AbortController();
  const { signal } = stopped;
  // Transactions may commit out of order. Each read therefore covers the last few seconds and skips the lines that the
  // previous read returned.
  let previousIds = new Set<string>();
  const readNewLines = async (): Promise<LiveLine[]> => {
    const lines = await store.read(accountId);
    const newLines = lines.filter(({ key }) => !previousIds.has(key));
    previousIds = new Set(lines.map(({ key }) => key));
    return newLines;
  };
  const ready = (async () => {
    await store.announce(accountId);
    await pause(cacheMs, signal);
    // Skip lines from before this subscription.
    await readNewLines();
  })();
  const follow = async (): Promise<void> => {
    await ready;
    for (;;) {
      await pause(readIntervalMs, signal);
      if (signal.aborted) return;
      try {
        await store.announce(accountId);
        (await readNewLines()).forEach(onLine);
      } catch (error) {
        log.warn({ err: error }, 'could not read live tail lines from other processes');
      }
    }
  };
  // If the subscription can't be started, callers get the error from `ready`.
  follow().catch(() => undefined);
  return { ready, stop: () => stopped.abort() };
}

/** Waits for `ms` milliseconds, or until aborted. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** The cached result of checking whether other processes are watching an account. */
interface CachedQuery {
  readAtMs: number;
  /** Undefined while the query is in flight. */
  isWatched?: boolean;
  result: Promise<boolean>;
}

function createWatcherCache({ store, log }: RelayDeps): (accountId: string) => CachedQuery {
  const cache = new Map<string, CachedQuery>();
  return (accountId) => {
    const cached = cache.get(accountId);
    if (cached && performance.now() - cached.readAtMs < cacheMs) return cached;
    const readAtMs = performance.now();
    const result = store.isWatched(accountId).catch((error: unknown) => {
      log.debug({ err: error }, 'could not check for live tail subscribers');
      return false;
    });
    const entry: CachedQuery = { readAtMs, result };
    cache.set(accountId, entry);
    void result.then((isWatched) => (entry.isWatched = isWatched));
    return entry;
  };
}

/** A live tail line: a decision or an event in the sandbox. */
export interface LiveLine {
  event: 'decision' | 'event';
  data: object;
}

/** Number of lines that the panel shows. */
const maxLines = 500;

/** A line as it is written for other processes. */
export interface SentLine {
  account_id: string;
  position: number;
  event: LiveLine['event'];
  data: string;
}

/**
 * Reads and writes the tables through which processes share the live tail. All times come from the database's clock,
 * because the clocks of the processes may differ.
 */
export interface TailStore {
  write(lines: readonly SentLine[]): Promise<void>;
  /** Reads the newest lines that other processes have written in the last ten seconds, in order. */
  read(accountId: string): Promise<(LiveLine & { key: string })[]>;
  /** Asks the other processes to write their lines for the next ten seconds, and deletes expired rows. */
  announce(accountId: string): Promise<void>;
  /** Whether another process has announced subscribers. */
  isWatched(accountId: string): Promise<boolean>;
}

/** @param processId the unique id of this process */
export function createTailStore(database: Queries, processId: string): TailStore {
  return {
    async write(lines) {
      await database.query(
        `INSERT INTO live_lines (account_id, process_id, position, event, data, created_at)
          SELECT account_id, $1, position, event, data, now()
          FROM jsonb_to_recordset($2::text::jsonb) AS row(account_id text, position bigint, event text, data text)`,
        [processId, JSON.stringify(lines)],
      );
    },
    async read(accountId) {
      const rows = await database.query<{ key: string; event: LiveLine['event']; data: string }>(
        `SELECT process_id || '/' || position AS key, event, data FROM live_lines
          WHERE account_id = $1 AND process_id <> $2 AND created_at > now() - interval '10 seconds'
          ORDER BY created_at DESC, process_id, position DESC LIMIT $3`,
        [accountId, processId, maxLines],
      );
      return rows.toReversed().map((row) => ({ ...row, data: JSON.parse(row.data) as object }));
    },
    async announce(accountId) {
      const insertedRows = await database.query(
        `INSERT INTO live_tails (account_id, process_id, until) VALUES ($1, $2, now() + interval '10 seconds')
          ON CONFLICT DO NOTHING RETURNING until`,
        [accountId, processId],
      );
      // The update is a separate statement, because Citus doesn't allow `now()` in ON CONFLICT DO UPDATE.
      const isRenewed =
        insertedRows.length > 0 ||
        (
          await database.query(
            `UPDATE live_tails SET until = now() + interval '10 seconds'
              WHERE account_id = $1 AND process_id = $2 AND until < now() + interval '5 seconds' RETURNING until`,
            [accountId, processId],
          )
        ).length > 0;
      if (isRenewed) await deleteExpired(database, accountId);
    },
    async isWatched(accountId) {
      const rows = await database.query(
        'SELECT until FROM live_tails WHERE account_id = $1 AND process_id <> $2 AND until > now() LIMIT 1',
        [accountId, processId],
      );
      return rows.length > 0;
    },
  };
}

async function deleteExpired(database: Queries, accountId: string): Promise<void> {
  await database.query(
    `DELETE FROM live_lines WHERE account_id = $1 AND created_at < now() - interval '1 minute'`,
    [accountId],
  );
  await database.query(
    `DELETE FROM live_tails WHERE account_id = $1 AND until < now() - interval '1 minute'`,
    [accountId],
  );
}
