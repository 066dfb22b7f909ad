import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Count, sumCounts } from '../../src/history/rollup.ts';
import { hourMs } from '../../src/platform/time.ts';

const firstHour = 500_000 * hourMs;
const name = fc.constantFrom('a', 'b');
const id = fc.constantFrom('1', '2', null);
const count: fc.Arbitrary<Count> = fc.record(
  {
    environment: fc.constantFrom('live', 'sandbox'),
    dimensions: fc.record({
      placement: name,
      creativeId: id,
      sourceId: id,
      advertiserId: id,
      houseAdId: id,
    }),
    atMs: fc.constantFrom(0, 1, hourMs - 1, hourMs, 2 * hourMs - 1).map((ms) => firstHour + ms),
    metric: fc.constantFrom('filled', 'completes'),
    increment: fc.integer({ min: 1, max: 3 }),
    reason: name,
  },
  { requiredKeys: ['environment', 'dimensions', 'atMs', 'metric'] },
);

test('counts are summed into one row per group and hour', () => {
  fc.assert(
    fc.property(fc.array(count, { maxLength: 20 }), (counts) => {
      const sums = sumCounts(counts);
      expect(new Set(sums.map((sum) => sum.id)).size).toBe(sums.length);
      const keys = sums.map((sum) =>
        [
          [sum.environment, sum.placement, sum.creativeId, sum.sourceId, sum.advertiserId],
          [sum.houseAdId, sum.metric, sum.reason, sum.hourMs],
        ].join(),
      );
      expect(new Set(keys).size).toBe(keys.length);
      const expected = new Map<string, number>();
      for (const { environment, dimensions, atMs, metric, increment = 1, reason = '' } of counts) {
        const { placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
        const ad = [creativeId, sourceId, advertiserId, houseAdId].map((part) => part ?? '');
        const hour = atMs - (atMs % hourMs);
        const key = [environment, placement, ...ad, metric, reason, hour].join();
        expected.set(key, (expected.get(key) ?? 0) + increment);
      }
      expect(new Map(keys.map((key, index) => [key, sums[index]?.count]))).toEqual(expected);
    }),
  );
});
