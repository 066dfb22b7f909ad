import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout, isUnavailable } from './is-unavailable.ts';

/** The lane is full: the caller should come again later. */
export class OverloadedError extends Error {
  readonly retryAfterS: number;
  constructor(retryAfterS = 1) {
    super('Too many writes are waiting for the database.');
    this.name = 'OverloadedError';
    this.retryAfterS = retryAfterS;
  }
}

export interface Lane<T, R> {
  /**
   * Resolves when the item is committed. Rejects with {@link OverloadedError} when the lane is full, and
   * with the error of its own item otherwise: an item that cannot be stored fails nobody else's.
   */
  push(item: T): Promise<R>;
  /** Resolves when everything that was pushed has been answered. */
  drain(): Promise<void>;
  /** How many items wait for a transaction. */
  waiting(): number;
  /** Whether nothing waits and nothing runs. */
  isIdle(): boolean;
}

/** Passed to each commit. */
export interface Attempt {
  /** The batch failed as a whole, and is retried in smaller groups. */
  isRetry: boolean;
}

export interface LaneOptions<T, R> {
  /** Writes the items in one transaction, all or none, and answers each, in order. */
  commit(items: T[], attempt: Attempt): Promise<R[]>;
  /** Items per transaction. */
  maxBatch?: number;
  /** How much of `maxWeight` an item takes. Default: nothing. */
  weightOf?(item: T): number;
  /** Weight per transaction, unless one item alone has more: what others wait for stays short. */
  maxWeight?: number;
  /** Items that may wait. */
  maxQueue?: number;
  /** How long a transaction waits for more items after a large one, in milliseconds; absent: not at all. */
  gatherMs?: number | undefined;
  /** Default: a timer. */
  sleep?(ms: number): Promise<unknown>;
}

/** Creates a lane, such as one whose transactions are traced. */
export type OpenLane = <T extends object, R>(options: LaneOptions<T, R>) => Lane<T, R>;

/**
 * After a transaction of so many items others are likely to come soon, as PostgreSQL takes it with
 * [commit_siblings](https://www.postgresql.org/docs/current/runtime-config-wal.html).
 */
const siblings = 16;
/**
 * How many groups of a failed batch may time out on a lock before the rest is refused as well. It takes 8
 * to find one locked row among 200 items.
 */
const mostLockTimeouts = 10;
/** How long a retry waits for a lock: the first attempt has already waited the full time. */
export const retryLockTimeoutMs = 100;

/**
 * Group commit: what arrives while a transaction runs goes into the next one together. An answer
 * comes after its commit, so that nothing acknowledged is lost, at 2–4 times the throughput of a
 * transaction each.
 */
export function createLane<T, R>(options: LaneOptions<T, R>): Lane<T, R> {
  const { commit, maxBatch = 200, maxQueue = 5_000, gatherMs, sleep = delay } = options;
  const { weightOf = () => 0, maxWeight = Infinity } = options;
  interface Waiting {
    item: T;
    resolve(result: R): void;
    reject(error: unknown): void;
  }
  let queue: Waiting[] = [];
  let lastSize = 0;
  let running: Promise<void> | undefined;

  /** How many of the items that wait go into the next transaction. */
  const fitting = (): number => {
    let weight = 0;
    const tooMany = queue.findIndex(({ item }, index) => {
      weight += weightOf(item);
      return index >= maxBatch || (index > 0 && weight > maxWeight);
    });
    return tooMany < 0 ? queue.length : tooMany;
  };

  const run = async (): Promise<void> => {
    // Whatever else came in during this turn of the event loop goes along.
    await new Promise(setImmediate);
    while (queue.length > 0) {
      const isFull = queue.length >= maxBatch || fitting() < queue.length;
      if (gatherMs !== undefined && lastSize >= siblings && !isFull) await sleep(gatherMs);
      const batch = queue.slice(0, fitting());
      queue = queue.slice(batch.length);
      lastSize = batch.length;
      await settle(batch);
    }
  };

  /** Halves a failed batch until the items at fault are alone, and settles each item with its own result. */
  const settle = async (batch: Waiting[]): Promise<void> => {
    const groups = [batch];
    let lockTimeouts = 0;
    for (let group = groups.shift(); group; group = groups.shift()) {
      try {
        const results = await commit(
          group.map(({ item }) => item),
          { isRetry: group !== batch },
        );
        group.forEach(({ resolve }, index) => resolve(results[index] as R));
      } catch (error) {
        const isLocked = isLockTimeout(error);
        if (isLocked) lockTimeouts += 1;
        // Every other group would fail in the same way.
        const isHopeless = isLocked ? lockTimeouts > mostLockTimeouts : isUnavailable(error);
        if (isHopeless) {
          for (const { reject } of [group, ...groups.splice(0)].flat()) reject(error);
        } else if (group.length === 1) {
          group[0]?.reject(error);
        } else {
          const middle = Math.ceil(group.length / 2);
          groups.unshift(group.slice(0, middle), group.slice(middle));
        }
      }
    }
  };

  const start = (): void => {
    running = run().finally(() => {
      running = undefined;
      // What came after the last look at the queue.
      if (queue.length > 0) start();
    });
  };

  return {
    push(item) {
      if (queue.length >= maxQueue) return Promise.reject(new OverloadedError());
      return new Promise<R>((resolve, reject) => {
        queue.push({ item, resolve, reject });
        if (!running) start();
      });
    },
    async drain() {
      while (running) await running;
    },
    waiting: () => queue.length,
    isIdle: () => queue.length === 0 && !running,
  };
}
