import type { Clock } from '../src/platform/clock.ts';

/** A clock that stands still until the test moves it. */
export interface SteerableClock extends Clock {
  set(ms: number): void;
  /** Lets time pass. */
  advance(ms: number): void;
}

/** @throws Error from `set` and `advance` when time would go back. */
export function createSteerableClock(startMs: number): SteerableClock {
  let now = startMs;
  const set = (ms: number): void => {
    if (ms < now) throw new Error(`The clock of the service cannot go back by ${now - ms} ms.`);
    now = ms;
  };
  return { nowMs: () => now, set, advance: (ms) => set(now + ms) };
}
