import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('after the first 20,000 of 200,000 webhooks, the heap does not grow any further', async () => {
  const { failed, heap, liveObjects } = await countSends(200_000);
  expect(failed).toBe(0);
  const growth = (heap.at(-1) ?? 0) - (heap[1] ?? 0);
  // This limit is half the number of bytes that a weak reference and its entry in a set take up.
  expect(growth / 180_000).toBeLessThan(30);
  for (const count of Object.values(liveObjects)) expect(count).toBeLessThan(1_000);
}, 900_000);
