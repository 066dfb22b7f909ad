import { expect, test } from 'vitest';
import { countSends } from '../memory/count-sends.ts';

test('a sent webhook leaks no signal, timer or weak reference', async () => {
  const { failed, left } = await countSends(500);
  expect(failed).toBe(0);
  // Of the connections and the runtime itself there are some; of the sends there would be 500.
  for (const count of Object.values(left)) expect(count).toBeLessThan(250);
});
