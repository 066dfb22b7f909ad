import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout, isUnavailable } from './database-errors.ts';

/** Thrown when a lane is full. The caller should retry later. */
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
   * Resolves when the item is committed. Rejects with {@link OverloadedError} if the lane is full, and with another
   * error if this item can't be stored. Other items are not affected.
   */
  push(item: T): Promise<R>;
  /** Resolves when every pushed item has settled. */
  drain(): Promise<void>;
  /** Returns the number of items that are waiting for a transaction. */
  waiting(): number;
  /** Whether the lane has no waiting items and no running transaction. */
  isIdle(): boolean;
}

/** Describes an attempt to commit items. */
export interface Attempt {
  /** Whether the items are being retried because their batch failed. */
  isRetry: boolean;
}

export interface LaneOptions<T, R> {
  /** Writes all items in one transaction. Resolves to their results in the same order. */
  commit(items: T[], attempt: Attempt): Promise<R[]>;
  /** Maximum number of items per transaction. Default: 200. */
  maxBatch?: number;
  /** Returns an item's weight. Default: 0. */
  measureWeight?(item: T): number;
  /** Maximum total weight per transaction, to keep transactions short. A single item may exceed it. */
  maxWeight?: number;
  /** Maximum number of waiting items. Default: 5,000. */
  maxQueue?: number;
  /**
   * How long to wait for more items after a large transaction, in milliseconds. Waits up to three times, as long as
   * items keep arriving. Default: 0.
   */
  gatherMs?: number | undefined;
  /** Default: a timer. */
  sleep?(ms: number): Promise<unknown>;
}

/** Creates a lane. An implementation can add behavior, such as tracing its transactions. */
export type OpenLane = <T extends object, R>(options: LaneOptions<T, R>) => Lane<T, R>;

/**
 * After a transaction with at least this many items, more items are likely to arrive soon. PostgreSQL's
 * [commit_siblings](https://www.postgresql.org/docs/current/runtime-config-wal.html) has the same purpose.
 */
const gatherAfterItems = 16;
/** Maximum number of waits before a transaction. */
const maxWaits = 3;
/**
 * Maximum number of lock timeouts per batch. After that, the rest of the batch is rejected. Bisecting 200 items to find
 * the one with a locked row takes 8 timeouts.
 */
const maxLockTimeouts = 10;
/** How long a retry waits for a lock. Short, because the first attempt has already waited for the full timeout. */
export const retryLockTimeoutMs = 100;

/**
 * Creates a lane for group commit: items that arrive while a transaction is running share the next transaction. The
 * throughput is 2–4 times that of separate transactions. Items are acknowledged after their commit.
 */
export function createLane<T, R>(options: LaneOptions<T, R>): Lane<T, R> {
  const { commit, maxBatch = 200, maxQueue = 5_000, gatherMs, sleep = delay } = options;
  const { measureWeight = () => 0, maxWeight = Infinity } = options;
  interface WaitingItem {
    item: T;
    resolve(result: R): void;
    reject(error: unknown): void;
  }
  let queue: WaitingItem[] = [];
  let lastSize = 0;
  let running: Promise<void> | undefined;

  /** Returns how many of the waiting items fit into the next transaction. */
  const countFitting = (): number => {
    let weight = 0;
    const firstExcluded = queue.findIndex(({ item }, index) => {
      weight += measureWeight(item);
      return index >= maxBatch || (index > 0 && weight > maxWeight);
    });
    return firstExcluded < 0 ? queue.length : firstExcluded;
  };

  const isFull = (): boolean => queue.length >= maxBatch || countFitting() < queue.length;

  /**
   * Waits while items keep arriving. Clients that receive their responses at the same time tend to send their next
   * requests at the same time.
   */
  const gather = async (): Promise<void> => {
    for (let wait = 1; gatherMs !== undefined && wait <= maxWaits && !isFull(); wait++) {
      const previousLength = queue.length;
      await sleep(gatherMs);
      if (queue.length === previousLength) return;
    }
  };

  const run = async (): Promise<void> => {
    // Lets requests from the same event-loop turn join the batch.
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
   * Commits a batch. After a failure, bisects the batch until each failing item is isolated. Settles each item with its
   * own result.
   */
  const settle = async (batch: WaitingItem[]): Promise<void> => {
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
        // A systemic error would also make the remaining groups fail.
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
      // Items may have arrived since the queue was last checked.
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
