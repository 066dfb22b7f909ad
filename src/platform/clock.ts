/** Time, as a port: tests move it by hand. */
export interface Clock {
  /** Wall time, in milliseconds since 1970; for people and the wire only. */
  now(): number;
  /** Time that never jumps, in milliseconds; for durations that decide something. */
  monotonic(): number;
  /** Calls back after `ms`; the function that it returns prevents that. */
  after(ms: number, callback: () => void): () => void;
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
