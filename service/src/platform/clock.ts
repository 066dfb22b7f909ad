/** Wall-clock and monotonic time. Domain code never reads the system clocks directly. */
export interface Clock {
  /** Wall-clock time in Unix milliseconds, for stored times and comparisons between machines. It can jump, even backwards. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment, for measuring durations. This time never jumps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
