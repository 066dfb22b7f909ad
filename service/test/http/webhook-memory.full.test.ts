import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('the heap stops growing after the first 20,000 of 200,000 webhooks', async () => {
  const { failed, heap, liveObjects } = await countSends(200_000);
  expect(failed).toBe(0);
  const growth = (heap.at(-1) ?? 0) - (heap[1] ?? 0);
  // The limit in bytes is half the combined size of a weak reference and its set entry.
  expect(growth / 180_000).toBeLessThan(30);
  for (const count of Object.values(liveObjects)) expect(count).toBeLessThan(1_000);
}, 900_000);
