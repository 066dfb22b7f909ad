import { createTestClock, type TestClock } from '../src/program/development/test-clock.ts';

/** A clock that advances only when the test moves it. */
export interface ManualClock extends TestClock {
  /** Moves the clock forward. */
  advance(ms: number): void;
  /** Moves the clock forward to this time. */
  set(ms: number): void;
}

/** Creates a clock that starts now, runs, and can be moved forward. */
export const createRunningClock = (): ManualClock => withMoves(createTestClock());

/** Creates a manual clock. Its `set` and `advance` methods throw a RangeError if time would go backward. */
export function createManualClock(startMs: number): ManualClock {
  return withMoves(createTestClock({ nowMs: () => startMs, monotonicMs: () => 0 }));
}

function withMoves(clock: TestClock): ManualClock {
  const advance = (ms: number): void => clock.move({ advanceMs: ms });
  return { ...clock, advance, set: (ms) => advance(ms - clock.nowMs()) };
}
