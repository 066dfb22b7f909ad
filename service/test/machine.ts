import type { Machine } from '../src/platform/steady-clock.ts';

/** A machine whose clocks a test controls. Real time passes through `pass`, or follows a function. */
export interface TestMachine extends Machine {
  /** Real time passes while the machine runs, in milliseconds. */
  pass(ms: number): void;
  /** The machine sleeps: its monotonic clock stands still, and its wall clock and its uptime run on. */
  sleep(ms: number): void;
  /** The machine is frozen, as a paused virtual machine is: all of its clocks stand still. */
  freeze(ms: number): void;
  /** Somebody sets the wall clock. */
  step(ms: number): void;
}

/**
 * @param realMs the real time; may advance by itself
 * @param skewMs how far the wall clock is ahead of the real time
 */
export function createTestMachine(realMs: () => number, skewMs = 0): TestMachine {
  const startMs = realMs();
  let [passedMs, sleptMs, frozenMs, steppedMs] = [0, 0, 0, skewMs];
  const monotonicMs = (): number => realMs() - startMs + passedMs - sleptMs - frozenMs;
  return {
    monotonicMs,
    wallMs: () => startMs + monotonicMs() + sleptMs + steppedMs,
    uptimeMs: () => 86_400_000 + monotonicMs() + sleptMs,
    pass: (ms) => (passedMs += ms),
    sleep(ms) {
      passedMs += ms;
      sleptMs += ms;
    },
    freeze(ms) {
      passedMs += ms;
      frozenMs += ms;
    },
    step: (ms) => (steppedMs += ms),
  };
}
