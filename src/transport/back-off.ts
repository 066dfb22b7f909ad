import { type Clock, type Deadline, createDeadline } from '../platform/clock.ts';

const initialDelayMs = 1_000;
const maxDelayMs = 300_000;

/**
 * Returns the delay after `failures` consecutive failures (1 or more), in milliseconds. The delay is at most 1 s after
 * the first failure. The maximum doubles with each failure, up to 5 min. Full jitter prevents clients from retrying at
 * the same moment. If the service sent `Retry-After`, the two delays are added.
 */
export const backOffMs = (failures: number, random: () => number, retryAfterMs = 0): number =>
  retryAfterMs + random() * Math.min(maxDelayMs, initialDelayMs * 2 ** (failures - 1));

/** A delay before a retry. */
export interface Pause {
  ms: number;
  /** Number of consecutive failures. It determines the next delay. */
  failures: number;
  /** Whether the service requested the delay with `Retry-After`. */
  demanded: boolean;
}

/** The delays between one operation's retries. */
export interface BackOff {
  /** Whether the delay before a retry has yet to elapse. Time spent asleep counts toward the delay. */
  isWaiting(): boolean;
  /** Counts a failure and schedules a retry; see {@link backOffMs}. */
  fail(retryAfterMs?: number): Pause;
  /** Schedules a retry. Replaces the delay and the failure count. */
  pause(pause: Pause): void;
  /** Cancels the scheduled retry unless the service requested the delay. */
  hurry(): void;
  /** Resets the failure count. Call it after a success. */
  reset(): void;
  /** Cancels the scheduled retry. */
  cancel(): void;
}

/** Creates a {@link BackOff} that calls `retry` after each delay. */
export function createBackOff(
  deps: { clock: Clock; random: () => number },
  retry: () => void,
): BackOff {
  let failures = 0;
  let demanded = false;
  let cancelTimer: (() => void) | undefined;
  let deadline: Deadline | undefined;
  const cancel = (): void => {
    cancelTimer?.();
    deadline = undefined;
  };
  const pause = (next: Pause): void => {
    ({ demanded, failures } = next);
    cancel();
    deadline = createDeadline(deps.clock, next.ms);
    cancelTimer = deps.clock.after(next.ms, () => {
      cancel();
      retry();
    });
  };
  return {
    isWaiting: () => deadline?.passed() === false,
    fail(retryAfterMs) {
      const count = failures + 1;
      const ms = backOffMs(count, deps.random, retryAfterMs);
      const next = { ms, failures: count, demanded: retryAfterMs !== undefined };
      pause(next);
      return next;
    },
    pause,
    hurry() {
      if (!demanded) cancel();
    },
    reset() {
      failures = 0;
    },
    cancel,
  };
}
