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

/** The delays between one operation's retries. */
export interface BackOff {
  /** Number of consecutive failures. */
  failures(): number;
  /** Whether the delay before a retry has yet to elapse. Time spent asleep counts toward the delay. */
  isWaiting(): boolean;
  /** Counts a failure and schedules a retry; see {@link backOffMs}. Returns the delay in milliseconds. */
  fail(retryAfterMs?: number): number;
  /**
   * Schedules a retry in exactly `ms` milliseconds. `failures` is the number of consecutive failures that another tab
   * has counted.
   */
  pause(ms: number, failures?: number): void;
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
  let cancelTimer: (() => void) | undefined;
  let deadline: Deadline | undefined;
  const cancel = (): void => {
    cancelTimer?.();
    deadline = undefined;
  };
  const pause = (ms: number, failureCount = failures): void => {
    failures = failureCount;
    cancel();
    deadline = createDeadline(deps.clock, ms);
    cancelTimer = deps.clock.after(ms, () => {
      cancel();
      retry();
    });
  };
  return {
    failures: () => failures,
    isWaiting: () => deadline?.passed() === false,
    fail(retryAfterMs) {
      failures += 1;
      const ms = backOffMs(failures, deps.random, retryAfterMs);
      pause(ms);
      return ms;
    },
    pause,
    reset() {
      failures = 0;
    },
    cancel,
  };
}
