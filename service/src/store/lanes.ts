import { type Lane, OverloadedError } from './group-commit.ts';
import { isLockTimeout } from './is-unavailable.ts';

interface LanesOptions<T, R> {
  /** Each owner has a lane of its own. */
  ownerOf(item: T): string;
  openLane(owner: string): Lane<T, R>;
  /** Maximum number of lanes; beyond it an idle one is evicted. */
  mostLanes?: number;
  /** Items that may wait in all lanes together. */
  mostWaiting?: number;
}

/**
 * A lane for each owner, so that no owner waits for another one's transaction. When too many items wait in
 * total, owners with more than an equal share of them are refused.
 */
export function createLanes<T, R>(options: LanesOptions<T, R>): Lane<T, R> {
  const { ownerOf, openLane, mostLanes = 1_000, mostWaiting = 20_000 } = options;
  const lanes = new Map<string, Lane<T, R>>();
  let unanswered = 0;

  const evictIdle = (): boolean => {
    for (const [owner, lane] of lanes) if (lane.isIdle()) return lanes.delete(owner);
    return false;
  };
  const laneOf = (owner: string): Lane<T, R> | undefined => {
    const known = lanes.get(owner);
    if (known) return known;
    if (lanes.size >= mostLanes && !evictIdle()) return undefined;
    const opened = openLane(owner);
    lanes.set(owner, opened);
    return opened;
  };
  const sum = (): number => [...lanes.values()].reduce((total, lane) => total + lane.waiting(), 0);

  return {
    push(item) {
      const lane = laneOf(ownerOf(item));
      const isOverShare = (of: Lane<T, R>): boolean => of.waiting() >= mostWaiting / lanes.size;
      if (!lane || (unanswered >= mostWaiting && isOverShare(lane)))
        return Promise.reject(new OverloadedError());
      unanswered += 1;
      return lane.push(item).finally(() => {
        unanswered -= 1;
      });
    },
    async drain() {
      await Promise.all([...lanes.values()].map((lane) => lane.drain()));
    },
    waiting: sum,
    isIdle: () => [...lanes.values()].every((lane) => lane.isIdle()),
  };
}

/** Bounds how many transactions of lanes run at a time, so that connections are left for everything else. */
export interface Gate {
  run<T>(owner: string, work: () => Promise<T>): Promise<T>;
}

interface GateOptions {
  /** Transactions at a time. */
  slots: number;
  nowMs(): number;
}

/** How long an owner whose transaction timed out on a lock shares one slot with others like it. */
const slowForMs = 10_000;

/**
 * First come, first served, but owners whose rows are locked share one slot, however many there are.
 */
export function createGate({ slots, nowMs }: GateOptions): Gate {
  interface Waiting {
    owner: string;
    start(isSlow: boolean): void;
  }
  const waiting: Waiting[] = [];
  const slowUntilMs = new Map<string, number>();
  let [running, slowRunning] = [0, 0];

  const isSlow = (owner: string): boolean => {
    const untilMs = slowUntilMs.get(owner);
    if (untilMs !== undefined && untilMs <= nowMs()) slowUntilMs.delete(owner);
    return slowUntilMs.has(owner);
  };
  const startNext = (): void => {
    while (running < slots) {
      const index = waiting.findIndex(({ owner }) => slowRunning === 0 || !isSlow(owner));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
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
        waiting.push({ owner, start: resolve });
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
