import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createSteadyClock, type Machine } from '../../src/platform/steady-clock.ts';
import { openDatabaseClock } from '../../src/store/database-clock.ts';
import { createTestMachine } from '../machine.ts';

const startMs = Date.UTC(2026, 5, 1);

/** Creates a clock that follows a reference, and functions that let real time pass and measure the reference. */
function createFollower({ skewMs = 0, roundTripMs = 2, catchesUp = true } = {}) {
  const machine = createTestMachine(() => startMs, skewMs);
  let [referenceMs, passedMs] = [startMs, 0];
  const read = (delayMs = roundTripMs) => {
    const atMs = machine.monotonicMs();
    return { referenceMs, sentAtMs: atMs - delayMs / 2, receivedAtMs: atMs + delayMs / 2 };
  };
  const clock = createSteadyClock(machine, read(), catchesUp);
  return {
    machine,
    clock,
    pass(ms: number) {
      machine.pass(ms);
      referenceMs += ms;
      passedMs += ms;
    },
    during(ms: number, happen: (ms: number) => void) {
      happen(ms);
      referenceMs += ms;
      passedMs += ms;
    },
    stepReference: (ms: number) => (referenceMs += ms),
    measure: (delayMs?: number) => clock.adjust(read(delayMs)),
    /** How far the clock is ahead of real time. */
    error: () => clock.nowMs() - startMs - passedMs,
  };
}

describe('the service’s clock', () => {
  test.each([-3_600_000, -2_000, 0, 2_000, 3_600_000])(
    'starts with the reference, although the machine’s clock is off by %d ms',
    (skewMs) => {
      const { error, pass, machine } = createFollower({ skewMs });
      expect(error()).toBe(0);
      for (const stepMs of [3_000, -3_000, 3_600_000, -7_200_000]) {
        machine.step(stepMs);
        pass(5_000);
        expect(error()).toBe(0);
      }
    },
  );

  test.each([1_000, -1_000])('approaches a reference that moved by %d ms by 2%%', (movedMs) => {
    const { stepReference, measure, pass, error, clock } = createFollower();
    stepReference(movedMs);
    expect(measure()).toBe(movedMs);
    expect(error()).toBe(0);
    pass(10_000);
    expect(error()).toBe(movedMs / 5);
    expect(clock.behindMs()).toBeCloseTo((movedMs * 4) / 5);
    pass(60_000);
    expect(error()).toBe(movedMs);
    expect(measure()).toBe(0);
  });

  test('jumps forward only after the machine has slept', () => {
    const { during, machine, error, pass, measure, clock } = createFollower();
    during(3_600_000, (ms) => machine.pause(ms, 'asleep'));
    expect(error()).toBe(0);
    machine.step(3_600_000);
    expect(error()).toBe(0);
    // A virtual machine that was frozen can't know it until it measures.
    during(30_000, (ms) => machine.pause(ms, 'frozen'));
    expect(error()).toBe(-30_000);
    expect(measure()).toBe(30_000);
    expect(error()).toBe(0);
    pass(100_000);
    expect(error()).toBe(0);
    expect(clock.behindMs()).toBe(0);
  });

  test.each([
    ['a sleep of two seconds', 2_000, 0],
    ['a shorter sleep', 1_999, -1_999],
  ])('makes up at once for %s', (_, sleptMs, errorMs) => {
    const { during, machine, error } = createFollower();
    during(sleptMs, (ms) => machine.pause(ms, 'asleep'));
    expect(error()).toBe(errorMs);
  });

  test.each([
    ['two seconds', 2_000, -2_000],
    ['more than two seconds', 2_001, 0],
  ])('is %s behind and catches up', (_, frozenMs, errorMs) => {
    const { during, machine, measure, error } = createFollower();
    during(frozenMs, (ms) => machine.pause(ms, 'frozen'));
    expect(measure()).toBe(frozenMs);
    expect(error()).toBe(errorMs);
  });

  test('grows uncertain, and ignores a slow answer that says nothing new', () => {
    const { pass, clock, measure, stepReference } = createFollower();
    expect(clock.uncertaintyMs()).toBe(1);
    pass(10_000);
    expect(clock.uncertaintyMs()).toBeCloseTo(6, 2);
    stepReference(40);
    expect(measure(100)).toBe(0);
    expect(clock.uncertaintyMs()).toBeCloseTo(6, 2);
    expect(measure(4)).toBe(40);
    expect(clock.uncertaintyMs()).toBe(2);
    stepReference(5_000);
    expect(measure(100)).toBe(5_000);
  });

  test.each([
    ['a negative round trip', { sentAtMs: 10, receivedAtMs: 9 }, /1 ms before the question/],
    ['a time that is not a number', { referenceMs: NaN }, /says NaN/],
    ['a time before 2000', { referenceMs: 0 }, /expected a time in the years 2000 to 2100/],
  ])('ignores %s', (_, fault, message) => {
    const machine = createTestMachine(() => startMs);
    const good = { referenceMs: startMs, sentAtMs: 0, receivedAtMs: 0 };
    expect(() => createSteadyClock(machine, { ...good, ...fault }, true)).toThrow(message);
    const clock = createSteadyClock(machine, good, true);
    expect(() => clock.adjust({ ...good, ...fault })).toThrow(message);
    expect(clock.nowMs()).toBe(startMs);
  });

  test('never goes back, and never runs more than 2% too fast or too slow while the machine runs', () => {
    const happening = fc.oneof(
      fc.record({ step: fc.integer({ min: -4_000_000, max: 4_000_000 }) }),
      fc.record({ stepReference: fc.integer({ min: -4_000_000, max: 4_000_000 }) }),
      fc.record({ measure: fc.integer({ min: 0, max: 5_000 }) }),
      fc.record({ pass: fc.integer({ min: 0, max: 100_000 }) }),
      fc.record({ freeze: fc.integer({ min: 0, max: 100_000 }) }),
      fc.record({ sleep: fc.integer({ min: 0, max: 100_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
        const { machine, clock, measure, pass, stepReference, during } = createFollower({
          catchesUp: false,
        });
        for (const happening of happenings) {
          const beforeMs = clock.nowMs();
          const [minMs, maxMs] = act(happening);
          const elapsedMs = clock.nowMs() - beforeMs;
          expect(elapsedMs).toBeGreaterThanOrEqual(Math.floor(minMs) - 1);
          expect(elapsedMs).toBeLessThanOrEqual(Math.ceil(maxMs) + 1);
          expect(elapsedMs).toBeGreaterThanOrEqual(0);
        }
        function act(action: Partial<Record<string, number>>): [number, number] {
          const { step, measure: delayMs, pass: ms, freeze, sleep } = action;
          if (step !== undefined) machine.step(step);
          else if (delayMs !== undefined) measure(delayMs);
          else if (ms !== undefined) {
            pass(ms);
            return [ms * 0.98, ms * 1.02];
          } else if (freeze !== undefined) during(freeze, (ms) => machine.pause(ms, 'frozen'));
          else if (sleep !== undefined) {
            during(sleep, (paused) => machine.pause(paused, 'asleep'));
            // Two short sleeps may count as one.
            return [0, sleep + 2_000];
          } else stepReference(action['stepReference'] ?? 0);
          return [0, 0];
        }
      }),
      { numRuns: 300 },
    );
  });
});

const silent: { warn(details: object, text: string): void } = { warn: () => undefined };

/** A database whose clock differs from real time. */
const createDatabase = (readMs: () => number) => ({
  query: async <T>() => [{ ms: readMs() }] as T[],
});

const open = (machine: Machine, readMs: () => number, log = silent) =>
  openDatabaseClock({ database: createDatabase(readMs), embedded: false, log, machine });

describe('the start', () => {
  test.each([3_600_000, 3_630_000, -3_630_000])(
    'accepts clocks that differ by %d ms',
    async (skewMs) => {
      const machine = createTestMachine(() => startMs, skewMs);
      const clock = await open(machine, () => startMs);
      expect(clock.nowMs()).toBe(startMs);
      expect(clock.state().aheadOfMachineMs).toBe(-skewMs);
      clock.stop();
    },
  );

  test.each([3_630_001, -3_630_001])('refuses clocks that differ by %d ms', async (skewMs) => {
    const machine = createTestMachine(() => startMs, skewMs);
    const machineTime = new Date(startMs + skewMs).toISOString();
    await expect(open(machine, () => startMs)).rejects.toThrow(
      `The database's clock says 2026-06-01T00:00:00.000Z and this machine's clock says ${machineTime}: they may differ by at most an hour. Synchronize both machines with NTP`,
    );
  });

  test.each([
    ['fails', () => Promise.reject(new Error('permission denied')), /cannot be read: permission/],
    ['has no row', async () => [], /says NaN/],
    ['isn’t a time', async () => [{ ms: 'noon' }], /says NaN/],
    ['is infinite', async () => [{ ms: Infinity }], /says Infinity/],
  ])('refuses a database whose answer %s', async (_, query, message) => {
    const database = { query: query as <T>() => Promise<T[]> };
    const machine = createTestMachine(() => startMs);
    const opened = openDatabaseClock({ database, embedded: false, log: silent, machine });
    await expect(opened).rejects.toThrow(message);
  });

  test('refuses a machine whose monotonic clock goes back', async () => {
    let atMs = 1_000;
    const machine = { ...createTestMachine(() => startMs), monotonicMs: () => (atMs -= 10) };
    await expect(open(machine, () => startMs)).rejects.toThrow(/can't be trusted/);
  });
});

test('a difference of more than 250 ms since the last measurement is logged', async () => {
  const warn = vi.fn<(details: object, text: string) => void>();
  let referenceMs = startMs;
  const machine = createTestMachine(() => startMs);
  const clock = await open(machine, () => referenceMs, { warn });
  referenceMs += 250;
  await clock.confirm();
  expect(warn).not.toHaveBeenCalled();
  referenceMs -= 251;
  expect(await clock.confirm()).toBeCloseTo(1);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { driftMs: -251, embedded: false },
    expect.stringContaining('moved apart'),
  );
  clock.stop();
});

test('an embedded database follows the wall clock, slowly', async () => {
  const machine = createTestMachine(() => startMs);
  const database = createDatabase(() => NaN);
  const clock = await openDatabaseClock({ database, embedded: true, log: silent, machine });
  machine.step(-3_000);
  expect(await clock.confirm()).toBe(0);
  machine.pass(50_000);
  expect(clock.nowMs()).toBe(startMs + 49_000);
  clock.stop();
});
