import { expect, test } from 'vitest';
import { createManualClock } from '../../support/manual-clock.ts';

const noon = Date.UTC(2026, 10, 22, 12);

/** Creates a clock with a timer every second for an hour, and a log of when each timer fired. */
function createTickingClock() {
  const clock = createManualClock(noon);
  const firedAtMs: number[] = [];
  for (let second = 1; second <= 3_600; second += 1)
    clock.after(second * 1_000, () => firedAtMs.push(clock.monotonic()));
  return { clock, firedAtMs };
}

test('advance() moves wall and monotonic time and runs each timer when it is due', async () => {
  const { clock, firedAtMs } = createTickingClock();
  const startedAtMs = clock.monotonic();
  await clock.advance(2_500);
  expect(clock.now()).toBe(noon + 2_500);
  expect(clock.monotonic() - startedAtMs).toBe(2_500);
  expect(firedAtMs).toEqual([startedAtMs + 1_000, startedAtMs + 2_000]);
});

test('sleep() moves only wall time and delays all timers', async () => {
  const { clock, firedAtMs } = createTickingClock();
  await clock.advance(500);
  const startedAtMs = clock.monotonic();
  clock.sleep(3_600_000);
  expect(clock.now()).toBe(noon + 500 + 3_600_000);
  expect(clock.monotonic()).toBe(startedAtMs);
  await clock.advance(499);
  expect(firedAtMs).toEqual([]);
  await clock.advance(1);
  expect(firedAtMs).toHaveLength(1);
});

test('setting wall time forward or back does not affect durations', async () => {
  const { clock, firedAtMs } = createTickingClock();
  clock.setWallTime(noon + 86_400_000);
  expect(clock.now()).toBe(noon + 86_400_000);
  expect(clock.monotonic()).toBe(0);
  clock.setWallTime(0);
  await clock.advance(1_000);
  expect(clock.now()).toBe(1_000);
  expect(clock.monotonic()).toBe(1_000);
  expect(firedAtMs).toHaveLength(1);
});

test('freeze() moves wall and monotonic time, and timers that became due run late', async () => {
  const clock = createManualClock(noon);
  const firedAtMs: number[] = [];
  clock.after(1_000, () => firedAtMs.push(clock.monotonic()));
  clock.freeze(60_000);
  expect([clock.now(), clock.monotonic()]).toEqual([noon + 60_000, 60_000]);
  expect(firedAtMs).toEqual([]);
  await clock.advance(0);
  expect(firedAtMs).toEqual([60_000]);
});

test('runNextTimer() advances to the next timer and runs every timer that is then due, in order', async () => {
  const clock = createManualClock(noon);
  const fired: string[] = [];
  clock.after(20_000, () => fired.push('late'));
  clock.after(300, () => fired.push('first'));
  clock.after(300, () => fired.push('second'));
  expect(await clock.runNextTimer()).toBe(true);
  expect(fired).toEqual(['first', 'second']);
  expect(clock.monotonic()).toBe(300);
  expect(await clock.runNextTimer()).toBe(true);
  expect(clock.monotonic()).toBe(20_000);
  expect(await clock.runNextTimer()).toBe(false);
});

test('a canceled timer does not run', async () => {
  const clock = createManualClock(noon);
  const cancel = clock.after(10, () => expect.unreachable());
  cancel();
  expect(clock.timers()).toBe(0);
  await clock.advance(1_000);
});
