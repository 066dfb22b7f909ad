/** Wall time and monotonic time. Domain code never reads the system's clocks itself. */
export interface Clock {
  /** Wall time in unix milliseconds, for what is stored or compared with other machines. It can jump, also back. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment, for durations: it never jumps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
