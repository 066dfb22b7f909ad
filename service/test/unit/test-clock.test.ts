import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestClock, followParentClock } from '../../src/program/development/test-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  vi.setSystemTime(Date.UTC(2026, 5, 1));
});
afterEach(() => vi.useRealTimers());

test('setting the wall clock does not affect the monotonic clock', () => {
  const clock = createTestClock();
  const [wallMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
  const readElapsed = () => [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
  clock.move({ advanceMs: 5_000 });
  expect(readElapsed()).toEqual([5_000, 5_000]);
  clock.move({ shiftWallMs: -3_600_000 });
  expect(readElapsed()).toEqual([5_000 - 3_600_000, 5_000]);
  vi.advanceTimersByTime(250);
  expect(readElapsed()).toEqual([5_250 - 3_600_000, 5_250]);
  expect(() => clock.move({ advanceMs: -1 })).toThrow(
    'Cannot move monotonic time backward by 1 ms.',
  );
});

test('the test clock requires an IPC channel to a parent process', () => {
  const { send } = process;
  delete process.send;
  try {
    expect(followParentClock).toThrow('start the service with an IPC channel');
  } finally {
    if (send) process.send = send;
  }
});
