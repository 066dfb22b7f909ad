import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('sending webhooks does not leak signals, timers or weak references', async () => {
  const { failed, liveObjects } = await countSends(500);
  expect(failed).toBe(0);
  // Connections and the runtime keep a few objects alive. A leak would keep 500 alive.
  for (const count of Object.values(liveObjects)) expect(count).toBeLessThan(250);
});
