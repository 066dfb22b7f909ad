import { expect, test } from 'vitest';
import { createRest } from '../../src/platform/create-rest.ts';

test('background work rests as long as its last step took, but at most a second', async () => {
  let nowMs = 0;
  const rests: number[] = [];
  const rest = createRest(
    () => nowMs,
    async (ms) => {
      rests.push(ms);
      nowMs += ms;
    },
  );
  for (const workMs of [0, 40, 1_000, 60_000, 5]) {
    nowMs += workMs;
    await rest();
  }
  expect(rests).toEqual([0, 40, 1_000, 1_000, 5]);
});
