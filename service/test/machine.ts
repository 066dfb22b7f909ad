import type { Machine } from '../src/platform/steady-clock.ts';

/** What happened to a machine while nothing ran on it. */
export type Pause =
  /** Only the process was stopped: all clocks ran on. */
  | 'stopped'
  /** The machine slept: its monotonic clock stood still, and its wall clock and its uptime ran on. */
  | 'asleep'
  /** The machine was frozen, as a paused virtual machine is: all of its clocks stood still. */
  | 'frozen';

/** A machine whose clocks a test controls. */
export interface TestMachine extends Machine {
  /** Lets time pass while the machine runs, in milliseconds. */
  pass(ms: number): void;
  /** Lets time pass while nothing runs on the machine. */
  pause(ms: number, kind: Pause): void;
  /** Holds all clocks until `release`, because nothing may run on the machine. */
  hold(): void;
  release(kind: Pause): void;
  /** Sets the wall clock forward or back. */
  step(ms: number): void;
}

/**
 * @param realMs the real time; may advance by itself
 * @param skewMs how far the wall clock is ahead of the real time
 */
export function createTestMachine(realMs: () => number, skewMs = 0): TestMachine {
  const startMs = realMs();
  let [passedMs, sleptMs, frozenMs, steppedMs] = [0, 0, 0, skewMs];
  let heldAtMs: number | undefined;
  const readMs = (): number => heldAtMs ?? realMs() - startMs + passedMs;
  const hold = (): void => {
    heldAtMs = readMs();
  };
  const release = (kind: Pause): void => {
    const fromMs = readMs();
    heldAtMs = undefined;
    const pausedMs = readMs() - fromMs;
    if (kind === 'asleep') sleptMs += pausedMs;
    if (kind === 'frozen') frozenMs += pausedMs;
  };
  return {
    monotonicMs: () => readMs() - sleptMs - frozenMs,
    wallMs: () => startMs + readMs() - frozenMs + steppedMs,
    uptimeMs: () => 86_400_000 + readMs() - frozenMs,
    pass: (ms) => (passedMs += ms),
    hold,
    release,
    pause(ms, kind) {
      hold();
      passedMs += ms;
      release(kind);
    },
    step: (ms) => (steppedMs += ms),
  };
}
