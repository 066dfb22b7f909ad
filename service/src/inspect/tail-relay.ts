import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Queries } from '../store/database.ts';
import { createLane } from '../store/group-commit.ts';
import { type LiveLine, createTailStore, type SentLine, type TailStore } from './tail-store.ts';

/** Takes lines of the live tail from the processes that record to those that somebody watches. */
export interface TailRelay {
  /** False when nobody at another process watches the account. */
  isWanted(accountId: string): boolean;
  tell(accountId: string, line: LiveLine): void;
  /** Hears what other processes tell of an account, until it is stopped. */
  watch(accountId: string, onLine: (line: LiveLine) => void): Watch;
  /** Resolves when what was told is written. */
  drain(): Promise<void>;
}

export interface Watch {
  /** Resolves when every process knows that its lines are wanted. */
  ready: Promise<void>;
  stop(): void;
}

interface Parts {
  database: Queries;
  log: Logger;
  /** What no other process calls itself. */
  processId: string;
}

/** For so long a process goes by what it has read of who watches. */
const knownMs = 1_000;
const readEveryMs = 500;
/** Lines that may wait to be written; a burst of more is not shown as a whole. */
const mostWaiting = 1_000;

/**
 * By tables, because the database is all that processes share, and `LISTEN` does not get through a
 * pooler that hands out connections by transaction. Nothing is written while nobody watches; whether
 * somebody does is asked at most once a second, and not at all while the sandbox rests.
 */
export function createTailRelay({ database, log, processId }: Parts): TailRelay {
  const store = createTailStore(database, processId);
  const whoWatches = createWatcherMemory({ store, log });
  let position = 0;
  const lane = createLane<SentLine, void>({
    maxQueue: mostWaiting,
    async commit(lines) {
      await store.write(lines);
      return lines.map(() => undefined);
    },
  });
  const write = async (accountId: string, { event, data }: LiveLine): Promise<void> => {
    if (!(await whoWatches(accountId).answer)) return;
    position += 1;
    await lane.push({ account_id: accountId, position, event, data: JSON.stringify(data) });
  };
  return {
    isWanted: (accountId) => whoWatches(accountId).isWatched !== false,
    tell(accountId, line) {
      write(accountId, line).catch((error: unknown) =>
        log.debug({ err: error }, 'a line of the live tail was not written'),
      );
    },
    watch: (accountId, onLine) => startWatch({ store, log }, accountId, onLine),
    drain: () => lane.drain(),
  };
}

interface Relayed {
  store: TailStore;
  log: Logger;
}

function startWatch(
  { store, log }: Relayed,
  accountId: string,
  onLine: (line: LiveLine) => void,
): Watch {
  const stopped = new AbortController();
  const { signal } = stopped;
  // A transaction may end after a later one: a window is read each time, and what is known left out.
  let known = new Set<string>();
  const readNew = async (): Promise<LiveLine[]> => {
    const lines = await store.read(accountId);
    const fresh = lines.filter(({ key }) => !known.has(key));
    known = new Set(lines.map(({ key }) => key));
    return fresh;
  };
  const ready = (async () => {
    await store.announce(accountId);
    await pause(knownMs, signal);
    // What was told to somebody else before is not for this one.
    await readNew();
  })();
  const follow = async (): Promise<void> => {
    await ready;
    for (;;) {
      await pause(readEveryMs, signal);
      if (signal.aborted) return;
      try {
        await store.announce(accountId);
        (await readNew()).forEach(onLine);
      } catch (error) {
        log.warn({ err: error }, 'the live tail of other processes could not be read');
      }
    }
  };
  follow().catch(() => undefined); // it could not begin, as `ready` says
  return { ready, stop: () => stopped.abort() };
}

/** Ends at once when there is nothing more to wait for. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** Whether others watch an account, as it was read a moment ago. */
interface Known {
  askedAtMs: number;
  /** Undefined until it is answered. */
  isWatched?: boolean;
  answer: Promise<boolean>;
}

function createWatcherMemory({ store, log }: Relayed): (accountId: string) => Known {
  const known = new Map<string, Known>();
  return (accountId) => {
    const before = known.get(accountId);
    if (before && performance.now() - before.askedAtMs < knownMs) return before;
    const askedAtMs = performance.now();
    const answer = store.isWatched(accountId).catch((error: unknown) => {
      log.debug({ err: error }, 'whether somebody watches the sandbox could not be read');
      return false;
    });
    const asked: Known = { askedAtMs, answer };
    known.set(accountId, asked);
    void answer.then((isWatched) => (asked.isWatched = isWatched));
    return asked;
  };
}
