import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import type { Database, Scope } from './database.ts';
import { isLockTimeout } from './database-errors.ts';
import {
  type Attempt,
  type Lane,
  type LaneOptions,
  type OpenLane,
  OverloadedError,
} from './group-commit.ts';

interface LanesOptions<T, R> {
  /** Returns an item's owner. Each owner has its own lane. */
  findOwner(item: T): string;
  openLane(owner: string): Lane<T, R>;
  /** Maximum number of lanes. An idle lane is evicted to make room for a new one. */
  maxLanes?: number;
  /** Maximum total number of items in all lanes. */
  maxItems?: number;
}

/**
 * Creates one lane per owner, so that owners don't wait for each other's transactions. When the lanes are full, rejects
 * new items from owners that have used up their fair share of `maxItems`.
 */
export function createLanes<T, R>(options: LanesOptions<T, R>): Lane<T, R> {
  const { findOwner, openLane, maxLanes = 1_000, maxItems = 20_000 } = options;
  const lanes = new Map<string, Lane<T, R>>();
  let unsettledItems = 0;

  const evictIdle = (): boolean => {
    for (const [owner, lane] of lanes) if (lane.isIdle()) return lanes.delete(owner);
    return false;
  };
  const getLane = (owner: string): Lane<T, R> | undefined => {
    const existing = lanes.get(owner);
    if (existing) return existing;
    if (lanes.size >= maxLanes && !evictIdle()) return undefined;
    const newLane = openLane(owner);
    lanes.set(owner, newLane);
    return newLane;
  };
  const countWaiting = (): number =>
    [...lanes.values()].reduce((total, lane) => total + lane.waiting(), 0);

  return {
    push(item) {
      const lane = getLane(findOwner(item));
      const fairShare = maxItems / lanes.size;
      if (!lane || (unsettledItems >= maxItems && lane.waiting() >= fairShare))
        return Promise.reject(new OverloadedError());
      unsettledItems += 1;
      return lane.push(item).finally(() => {
        unsettledItems -= 1;
      });
    },
    async drain() {
      await Promise.all([...lanes.values()].map((lane) => lane.drain()));
    },
    waiting: countWaiting,
    isIdle: () => [...lanes.values()].every((lane) => lane.isIdle()),
  };
}

/** Limits how many lane transactions run concurrently, to leave connections for other work. */
export interface Gate {
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

interface GateOptions {
  /** Maximum number of concurrent transactions. */
  slots: number;
  nowMs(): number;
}

/** How long an owner is treated as slow after one of its transactions has timed out on a lock. */
const slowForMs = 10_000;

/**
 * Creates a gate that runs transactions in the order in which they arrive. Owners whose transactions have timed out on
 * a lock share a single slot.
 */
export function createGate({ slots, nowMs }: GateOptions): Gate {
  interface Waiter {
    owner: string;
    start(isSlow: boolean): void;
  }
  const waiters: Waiter[] = [];
  const slowUntilMs = new Map<string, number>();
  let [running, slowRunning] = [0, 0];

  const isSlow = (owner: string): boolean => {
    const untilMs = slowUntilMs.get(owner);
    if (untilMs !== undefined && untilMs <= nowMs()) slowUntilMs.delete(owner);
    return slowUntilMs.has(owner);
  };
  const startNext = (): void => {
    while (running < slots) {
      const index = waiters.findIndex(({ owner }) => slowRunning === 0 || !isSlow(owner));
      const [next] = index === -1 ? [] : waiters.splice(index, 1);
      if (!next) return;
      const slow = isSlow(next.owner);
      running += 1;
      if (slow) slowRunning += 1;
      next.start(slow);
    }
  };

  return {
    async run(owner, work) {
      const slow = await new Promise<boolean>((resolve) => {
        waiters.push({ owner, start: resolve });
        startNext();
      });
      try {
        const result = await work();
        slowUntilMs.delete(owner);
        return result;
      } catch (error) {
        if (isLockTimeout(error)) slowUntilMs.set(owner, nowMs() + slowForMs);
        throw error;
      } finally {
        running -= 1;
        if (slow) slowRunning -= 1;
        startNext();
      }
    },
  };
}

/** The lane dependencies for one kind of write. */
export interface LaneDeps {
  /** `decisions`, `events` or `deliveries`. */
  name: string;
  openLane: OpenLane;
  gate: Gate;
  log: Pick<Logger, 'warn'>;
}

interface LaneFactoryOptions {
  database: Pick<Database, 'connections'>;
  tracing: { lane(name: string): OpenLane };
  clock: Pick<Clock, 'monotonicMs'>;
  log: Pick<Logger, 'warn'>;
  /** The size of this process's connection pool. */
  poolSize: number;
}

/** Number of connections for what isn't written in lanes, such as claiming deliveries and loading configurations. */
const reservedConnections = 2;

/** Creates a gate for all lanes. Returns a function that creates the lane dependencies for one kind of write. */
export function createLaneDeps({ database, tracing, clock, log, poolSize }: LaneFactoryOptions) {
  const gate = createGate({
    // The embedded database runs one transaction at a time and needs no limit.
    slots: database.connections ? Math.max(1, poolSize - reservedConnections) : Infinity,
    nowMs: clock.monotonicMs,
  });
  return (name: string): LaneDeps => ({ name, openLane: tracing.lane(name), gate, log });
}

/**
 * Creates one lane per account and environment. All items in a transaction therefore have the same scope. Logs a
 * warning when a transaction times out on a row lock. The lock delays only the account that owns the row.
 */
export function createScopedLanes<T extends { scope: Scope }, R>(
  { name, openLane, gate, log }: LaneDeps,
  options: LaneOptions<T, R>,
): Lane<T, R> {
  const commit = async (items: T[], attempt: Attempt): Promise<R[]> => {
    try {
      return await options.commit(items, attempt);
    } catch (error) {
      // Retries are blocked by the same session, so their timeouts are not logged.
      if (isLockTimeout(error) && !attempt.isRetry) {
        const { accountId, environment } = items[0]?.scope ?? {};
        const { blockers } = error as { blockers?: string };
        log.warn(
          { lane: name, accountId, environment, writes: items.length, blockers },
          'writes timed out on a lock held by another session',
        );
      }
      throw error;
    }
  };
  return createLanes({
    findOwner: ({ scope }: T) => `${scope.accountId} ${scope.environment}`,
    openLane: (owner) =>
      openLane<T, R>({
        ...options,
        commit: (items, attempt) => gate.run(`${name} ${owner}`, () => commit(items, attempt)),
      }),
  });
}
