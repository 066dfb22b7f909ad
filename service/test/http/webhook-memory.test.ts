import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('sending a webhook leaks no signal, timer or weak reference', async () => {
  const { failed, liveObjects } = await countSends(500);
  expect(failed).toBe(0);
  // Connections and the runtime have a few of these objects. A leak would leave 500.
  for (const count of Object.values(liveObjects)) expect(count).toBeLessThan(250);
});
