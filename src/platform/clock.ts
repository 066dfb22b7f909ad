/** Time, as a port: tests move it by hand. */
export interface Clock {
  /** Wall time, in milliseconds since 1970. The user can set it, and it goes on while the device sleeps. */
  now(): number;
  /**
   * Time that never jumps, in milliseconds; for durations that decide something. On most platforms it stands
   * still while the device sleeps ({@link https://github.com/w3c/hr-time/issues/115 | w3c/hr-time#115}).
   */
  monotonic(): number;
  /** Calls back after `ms`; the function that it returns prevents that. */
  after(ms: number, callback: () => void): () => void;
}

/** When something stops being valid. Either clock can be wrong, so the first one to reach it decides. */
export interface Deadline {
  passed(): boolean;
  /** Milliseconds left; negative once it has passed. */
  leftMs(): number;
}

type Times = Pick<Clock, 'now' | 'monotonic'>;

/** Measures the time since this call, in milliseconds, by whichever clock says more. */
export function stopwatch(clock: Times): () => number {
  const monotonic = clock.monotonic();
  const wall = clock.now();
  return () => Math.max(clock.monotonic() - monotonic, clock.now() - wall);
}

/** A deadline `ms` from now, or from when `elapsedMs` was started. */
export function deadlineIn(clock: Times, ms: number, elapsedMs = stopwatch(clock)): Deadline {
  const leftMs = (): number => ms - elapsedMs();
  return { leftMs, passed: () => leftMs() <= 0 };
}

/** The longest delay that `setTimeout` takes; a longer one fires at once. */
const longestTimeoutMs = 2 ** 31 - 1;

/** The browser's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, longestTimeoutMs));
    return () => clearTimeout(timer);
  },
};
