import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
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
  /** Each owner has its own lane. */
  findOwner(item: T): string;
  openLane(owner: string): Lane<T, R>;
  /** Maximum number of lanes. When another one is needed, an idle lane is evicted. */
  maxLanes?: number;
  /** Maximum total number of items in all lanes. */
  maxItems?: number;
}

/**
 * Creates one lane per owner, so that owners don't wait for each other's transactions. When there are too many items in
 * total, new items are rejected from owners that already have at least an equal share of them.
 */
export function createLanes<T, R>(options: LanesOptions<T, R>): Lane<T, R> {
  const { findOwner, openLane, maxLanes = 1_000, maxItems = 20_000 } = options;
  const lanes = new Map<string, Lane<T, R>>();
  let unsettled = 0;

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
  const sum = (): number => [...lanes.values()].reduce((total, lane) => total + lane.waiting(), 0);

  return {
    push(item) {
      const lane = getLane(findOwner(item));
      const exceedsShare = (of: Lane<T, R>): boolean => of.waiting() >= maxItems / lanes.size;
      if (!lane || (unsettled >= maxItems && exceedsShare(lane)))
        return Promise.reject(new OverloadedError());
      unsettled += 1;
      return lane.push(item).finally(() => {
        unsettled -= 1;
      });
    },
    async drain() {
      await Promise.all([...lanes.values()].map((lane) => lane.drain()));
    },
    waiting: sum,
    isIdle: () => [...lanes.values()].every((lane) => lane.isIdle()),
  };
}

/** Limits the number of concurrent lane transactions, so that connections remain for other work. */
export interface Gate {
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

interface GateOptions {
  /** Maximum number of concurrent transactions. */
  slots: number;
  nowMs(): number;
}

/** An owner whose transaction timed out on a lock shares a single slot with other such owners for this long. */
const slowForMs = 10_000;

/**
 * Creates a gate that serves owners in the order in which they arrive. The exception is owners whose rows are locked:
 * all of them share a single slot.
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

/** The dependencies that all lanes for one kind of write share. */
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

/** Connections that lanes leave for reads, deliveries and maintenance jobs. */
const reservedConnections = 2;

/**
 * Creates the gate that all lanes share. Returns a function that creates the dependencies of the lanes for one kind of
 * write.
 */
export function createLaneDeps({ database, tracing, clock, log, poolSize }: LaneFactoryOptions) {
  const gate = createGate({
    // The embedded database runs one transaction at a time anyway.
    slots: database.connections ? Math.max(1, poolSize - reservedConnections) : Infinity,
    nowMs: clock.monotonicMs,
  });
  return (name: string): LaneDeps => ({ name, openLane: tracing.lane(name), gate, log });
}

/**
 * Creates a lane per account and environment, so that all items of a `commit` belong to the same account and
 * environment. If another session holds a row lock for too long, this is logged and delays only the account whose row
 * it is.
 */
export function createScopedLanes<T extends { scope: Scope }, R>(
  { name, openLane, gate, log }: LaneDeps,
  options: LaneOptions<T, R>,
): Lane<T, R> {
  const commit = async (items: T[], attempt: Attempt): Promise<R[]> => {
    try {
      return await options.commit(items, attempt);
    } catch (error) {
      // Retries are not logged, because they are waiting for the same session.
      if (isLockTimeout(error) && !attempt.isRetry) {
        const { accountId, environment } = items[0]?.scope ?? {};
        const { blockers } = error as { blockers?: string };
        log.warn(
          { lane: name, accountId, environment, writes: items.length, blockers },
          'writes timed out on a lock that another session holds',
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
