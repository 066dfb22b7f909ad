import { ConfigError } from '../config/read-settings.ts';
import { type Clock, systemClock } from '../../platform/time.ts';

/** A change to a clock, in milliseconds. */
export interface ClockMove {
  /** Advances both wall time and monotonic time. */
  advanceMs?: number;
  /** Moves only wall time, forward or backward. */
  shiftWallMs?: number;
}

/** A clock that tests control. */
export interface TestClock extends Clock {
  /** @throws RangeError if monotonic time would go backward. */
  move(by: ClockMove): void;
}

export function createTestClock(base: Clock = systemClock): TestClock {
  let [wallShiftMs, advancedMs] = [0, 0];
  return {
    nowMs: () => base.nowMs() + wallShiftMs + advancedMs,
    monotonicMs: () => base.monotonicMs() + advancedMs,
    move({ advanceMs = 0, shiftWallMs = 0 }) {
      if (advanceMs < 0)
        throw new RangeError(`Cannot move monotonic time backward by ${-advanceMs} ms.`);
      advancedMs += advanceMs;
      wallShiftMs += shiftWallMs;
    },
  };
}

/**
 * Creates a clock that the parent process moves by sending a {@link ClockMove}. The message is echoed once the clock
 * has moved.
 *
 * @throws ConfigError if there is no IPC channel to a parent process.
 */
export function followParentClock(): TestClock {
  const clock = createTestClock();
  if (process.send === undefined) {
    throw new ConfigError([
      'TRUEWARD_TEST_CLOCK is 1, but there is no parent process to control the clock: start the service with an IPC channel, for example with child_process.fork.',
    ]);
  }
  process.on('message', (move: ClockMove) => {
    clock.move(move);
    process.send?.(move);
  });
  return clock;
}
