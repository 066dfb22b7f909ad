import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout, isUnavailable } from './database-errors.ts';

/** Thrown when a lane is full; the caller should retry later. */
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
   * Resolves when the item is committed. Rejects with {@link OverloadedError} when the lane is full. If this item can't
   * be stored, rejects with the item's own error; other items are not affected.
   */
  push(item: T): Promise<R>;
  /** Resolves when every pushed item has settled. */
  drain(): Promise<void>;
  /** Returns how many items are waiting for a transaction. */
  waiting(): number;
  /** Whether no item is waiting and no transaction is running. */
  isIdle(): boolean;
}

/** Passed to each commit. */
export interface Attempt {
  /** Whether the whole batch has already failed once and is now retried in smaller groups. */
  isRetry: boolean;
}

export interface LaneOptions<T, R> {
  /** Writes all items or none in one transaction, and returns their results in the same order. */
  commit(items: T[], attempt: Attempt): Promise<R[]>;
  /** Maximum number of items per transaction. Default: 200. */
  maxBatch?: number;
  /** Returns how much of `maxWeight` an item takes up. Default: 0. */
  measureWeight?(item: T): number;
  /** Maximum total weight per transaction, to keep transactions short. A single item may exceed it. */
  maxWeight?: number;
  /** Maximum number of waiting items. Default: 5,000. */
  maxQueue?: number;
  /**
   * After a large transaction, the next one waits this many milliseconds for more items. If any arrive, it waits again,
   * but at most three times. Default: 0.
   */
  gatherMs?: number | undefined;
  /** Default: a timer. */
  sleep?(ms: number): Promise<unknown>;
}

/** Creates a lane, for example one that traces its transactions. */
export type OpenLane = <T extends object, R>(options: LaneOptions<T, R>) => Lane<T, R>;

/**
 * If a transaction had at least this many items, more items will probably arrive soon. PostgreSQL's
 * [commit_siblings](https://www.postgresql.org/docs/current/runtime-config-wal.html) makes the same assumption.
 */
const gatherAfterItems = 16;
/** Maximum number of waits before a transaction. */
const maxWaits = 3;
/**
 * If more than this many groups of a failed batch time out on a lock, the rest of the batch is rejected too. Finding
 * one locked row among 200 items takes 8 timeouts.
 */
const maxLockTimeouts = 10;
/** How long a retry waits for a lock. This can be short, because the first attempt has already waited the full time. */
export const retryLockTimeoutMs = 100;

/**
 * Creates a lane for group commit: items that arrive while a transaction is running share the next transaction. The
 * throughput is 2–4 times that of separate transactions. Items are acknowledged only after their commit, so an
 * acknowledged item is never lost.
 */
export function createLane<T, R>(options: LaneOptions<T, R>): Lane<T, R> {
  const { commit, maxBatch = 200, maxQueue = 5_000, gatherMs, sleep = delay } = options;
  const { measureWeight = () => 0, maxWeight = Infinity } = options;
  interface Waiting {
    item: T;
    resolve(result: R): void;
    reject(error: unknown): void;
  }
  let queue: Waiting[] = [];
  let lastSize = 0;
  let running: Promise<void> | undefined;

  /** How many waiting items fit into the next transaction. */
  const countFitting = (): number => {
    let weight = 0;
    const tooMany = queue.findIndex(({ item }, index) => {
      weight += measureWeight(item);
      return index >= maxBatch || (index > 0 && weight > maxWeight);
    });
    return tooMany < 0 ? queue.length : tooMany;
  };

  const isFull = (): boolean => queue.length >= maxBatch || countFitting() < queue.length;

  /**
   * Waits while items keep arriving, because clients that received responses together send their next requests
   * together.
   */
  const gather = async (): Promise<void> => {
    for (let wait = 1; gatherMs !== undefined && wait <= maxWaits && !isFull(); wait++) {
      const before = queue.length;
      await sleep(gatherMs);
      if (queue.length === before) return;
    }
  };

  const run = async (): Promise<void> => {
    // Lets other requests in this turn of the event loop join the batch.
    await new Promise(setImmediate);
    while (queue.length > 0) {
      if (lastSize >= gatherAfterItems) await gather();
      const batch = queue.slice(0, countFitting());
      queue = queue.slice(batch.length);
      lastSize = batch.length;
      await settle(batch);
    }
  };

  /**
   * Commits a batch. If it fails, splits it in half repeatedly until every bad item is in a group of its own. Settles
   * each item with its own result.
   */
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
        // If so, every other group would fail for the same reason.
        const isSystemic = isLocked ? lockTimeouts > maxLockTimeouts : isUnavailable(error);
        if (isSystemic) {
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
      // Items may have arrived since the last check of the queue.
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
