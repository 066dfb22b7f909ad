import { expect, test } from 'vitest';
import { createLane, OverloadedError } from '../../src/store/group-commit.ts';

test('what comes while a commit runs goes into the next one together, and each gets its own answer', async () => {
  const batches: number[][] = [];
  const lane = createLane<number, string>({
    commit: async (items) => {
      batches.push(items);
      await new Promise(setImmediate);
      return items.map(String);
    },
    maxBatch: 3,
  });
  const answers = await Promise.all([1, 2, 3, 4, 5].map((item) => lane.push(item)));
  expect(answers).toEqual(['1', '2', '3', '4', '5']);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('a failed commit is told to those in it, and the next one goes on', async () => {
  const lane = createLane<number, void>({
    commit: async (items) => {
      if (items.includes(1)) throw new Error('no disk');
      return items.map(() => undefined);
    },
    maxBatch: 1,
  });
  const [first, second] = await Promise.allSettled([lane.push(1), lane.push(2)]);
  expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled']);
});

test('a full lane refuses at once, and drain waits for the rest', async () => {
  const done: number[] = [];
  const lane = createLane<number, void>({
    commit: async (items) => {
      done.push(...items);
      return items.map(() => undefined);
    },
    maxQueue: 2,
  });
  const accepted = [lane.push(1), lane.push(2)];
  await expect(lane.push(3)).rejects.toBeInstanceOf(OverloadedError);
  await lane.drain();
  expect(done).toEqual([1, 2]);
  await Promise.all(accepted);
});
