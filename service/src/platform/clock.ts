/** The time, as two clocks that have nothing to do with each other. Domain code never asks the system itself. */
export interface Clock {
  /** Wall time in unix milliseconds: what is stored and compared with others. It is set, forward and back. */
  nowMs(): number;
  /** Milliseconds since an arbitrary moment: for durations, because nobody sets it. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
