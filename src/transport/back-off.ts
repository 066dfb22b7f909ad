import { type Clock, type Deadline, deadlineIn } from '../platform/clock.ts';

const initialDelayMs = 1_000;
const maxDelayMs = 300_000;

/**
 * Returns the delay after `failures` consecutive failures (1 or more), in milliseconds. The delay is up to 1 s after
 * the first failure and doubles with each further one, to at most 5 min. It has full jitter, so that clients do not
 * retry at the same moment. If the service sent `Retry-After`, the delay is added to it.
 */
export const backOffMs = (failures: number, random: () => number, retryAfterMs = 0): number =>
  retryAfterMs + random() * Math.min(maxDelayMs, initialDelayMs * 2 ** (failures - 1));

/** The delays between the retries of one operation. */
export interface BackOff {
  /** Number of consecutive failures. */
  failures(): number;
  /** Whether the delay before a retry has not passed yet. Also false if the delay passed while the device slept. */
  waiting(): boolean;
  /** Counts a failure and schedules a retry; see {@link backOffMs}. Returns the delay in milliseconds. */
  failed(retryAfterMs?: number): number;
  /**
   * Schedules a retry after exactly `ms` milliseconds. `failures` is the number of failures that another tab has
   * counted.
   */
  pause(ms: number, failures?: number): void;
  succeeded(): void;
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
  let end: Deadline | undefined;
  const cancel = (): void => {
    cancelTimer?.();
    end = undefined;
  };
  const pause = (ms: number, failuresSoFar = failures): void => {
    failures = failuresSoFar;
    cancel();
    end = deadlineIn(deps.clock, ms);
    cancelTimer = deps.clock.after(ms, () => {
      cancel();
      retry();
    });
  };
  return {
    failures: () => failures,
    waiting: () => end?.passed() === false,
    failed(retryAfterMs) {
      failures += 1;
      const ms = backOffMs(failures, deps.random, retryAfterMs);
      pause(ms);
      return ms;
    },
    pause,
    succeeded() {
      failures = 0;
    },
    cancel,
  };
}
