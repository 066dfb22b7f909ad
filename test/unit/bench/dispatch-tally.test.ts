import { expect, test } from 'vitest';
import { compare } from '../../bench/dispatch/report.ts';
import { median } from '../../bench/dispatch/results.ts';
import { tally } from '../../bench/dispatch/tally.ts';

test('counts lost and duplicate deliveries', () => {
  const counts = { b: 1, c: 3, d: 2, fromAnotherRun: 5 };
  expect(tally(['a', 'b', 'c', 'd'], counts)).toEqual({ lost: 1, duplicated: 2, repeats: 3 });
  expect(tally(['b'], { b: 1 })).toEqual({ lost: 0, duplicated: 0, repeats: 0 });
});

test('the median of an even number of rounds is the mean of the middle two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

test('reports the metrics on which a peer is ahead or behind', () => {
  const common = { setting: '', tuning: [], lost: 0, duplicated: 0, crashes: [] };
  const lines = compare([
    { ...common, name: 'ours', perSecond: 1_000, totalUs: 200 },
    { ...common, name: 'pg-boss', perSecond: 2_000, totalUs: 400 },
    { ...common, name: 'bullmq', gap: 'not run' },
  ]);
  expect(lines).toEqual([
    '- **behind pg-boss** in deliveries per second: 1,000 to 2,000, 0.50 ×.',
    '- **ahead of pg-boss** in CPU time per delivery: 200 to 400, 0.50 ×.',
  ]);
});
