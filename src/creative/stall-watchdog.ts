import type { Clock } from '../platform/clock.ts';

/** Barks when something that should move has not moved for too long. */
export interface StallWatchdog {
  /** It moved, or may move from now on. */
  reset(): void;
  /** It need not move, until the next `reset()`. */
  stop(): void;
}

export function createStallWatchdog(
  clock: Clock,
  limitMs: number,
  onStall: () => void,
): StallWatchdog {
  let cancel: (() => void) | undefined;

  function reset(): void {
    cancel?.();
    const since = clock.monotonic();
    cancel = clock.after(limitMs, () => {
      // Far too late a timer means that the device or the page slept, not that the ad stood still.
      if (clock.monotonic() - since > limitMs * 2) reset();
      else onStall();
    });
  }

  return {
    reset,
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
