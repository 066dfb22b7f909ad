import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('sending webhooks leaks no signal, timer or weak reference', async () => {
  const { failed, liveObjects } = await countSends(500);
  expect(failed).toBe(0);
  // Connections and the runtime keep a few of these objects alive. A leak would leave 500 of them.
  for (const count of Object.values(liveObjects)) expect(count).toBeLessThan(250);
});
