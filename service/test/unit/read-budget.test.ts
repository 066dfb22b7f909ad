import { expect, test } from 'vitest';
import { createReadBudget } from '../../src/decision/read-budget.ts';
import { createManualClock } from '../manual-clock.ts';

test('an account that changes all the time is read for a tenth of the time, and never waits longer than two seconds', () => {
  const clock = createManualClock(0);
  const budget = createReadBudget(clock);
  for (const tookMs of [3, 100, 600]) {
    const account = `acc_${tookMs}`;
    const [startedAtMs, waits] = [clock.monotonicMs(), [] as number[]];
    let readMs = 0;
    while (clock.monotonicMs() - startedAtMs < 100_000) {
      const waitMs = budget.waitMs(account);
      waits.push(waitMs);
      clock.advance(waitMs + tookMs);
      budget.charge(account, tookMs);
      readMs += tookMs;
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    // What it had saved up comes on top. One that takes longer than the longest wait allows exceeds its share.
    expect(readMs).toBeLessThan(tookMs === 600 ? 26_000 : 11_300);
  }
});

test('the changes of a deployment need not wait, and neither do other accounts', () => {
  const clock = createManualClock(0);
  const budget = createReadBudget(clock);
  for (let change = 0; change < 100; change += 1) {
    expect(budget.waitMs('acc_1')).toBe(0);
    clock.advance(10);
    budget.charge('acc_1', 10);
  }
  for (let change = 0; change < 5; change += 1) budget.charge('acc_1', 500);
  expect([budget.waitMs('acc_1'), budget.waitMs('acc_2')]).toEqual([2_000, 0]);
  clock.advance(2_000);
  expect(budget.waitMs('acc_1')).toBe(0);
});
