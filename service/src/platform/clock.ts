/** Wall-clock and monotonic time. Domain code never reads the system clocks directly. */
export interface Clock {
  /** Unix milliseconds, for stored times and comparisons between machines. May jump, even backward. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment, for measuring durations. Never jumps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
