import { type Clock, type Deadline, deadlineIn } from '../platform/clock.ts';

const firstMs = 1_000;
const longestMs = 300_000;

/**
 * How long to wait after `failures` failures in a row (1 or more), in milliseconds: full jitter, so
 * that many clients do not come back together, up to 1 s after the first and 5 min at most. A
 * `Retry-After` of the service is waited out before that.
 */
export const backOffMs = (failures: number, random: () => number, retryAfterMs = 0): number =>
  retryAfterMs + random() * Math.min(longestMs, firstMs * 2 ** (failures - 1));

/** The pauses between the tries of one piece of work. */
export interface BackOff {
  /** How many tries failed in a row. */
  failures(): number;
  /** Whether a retry is still due later. False once the device has slept through the delay. */
  waiting(): boolean;
  /**
   * Schedules a retry, with a longer delay for every consecutive failure, and not before a `Retry-After`.
   * Returns the delay in milliseconds.
   */
  failed(retryAfterMs?: number): number;
  /** Waits for just so long; `failures` are those of someone else who tried. */
  pause(ms: number, failures?: number): void;
  succeeded(): void;
  /** Waits no longer, and does not try either. */
  cancel(): void;
}

/** Creates a {@link BackOff} that calls `tryAgain` after each pause. */
export function createBackOff(
  parts: { clock: Clock; random: () => number },
  tryAgain: () => void,
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
    end = deadlineIn(parts.clock, ms);
    cancelTimer = parts.clock.after(ms, () => {
      cancel();
      tryAgain();
    });
  };
  return {
    failures: () => failures,
    waiting: () => end?.passed() === false,
    failed(retryAfterMs) {
      failures += 1;
      const ms = backOffMs(failures, parts.random, retryAfterMs);
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
