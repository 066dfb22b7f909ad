import { expect, test, vi } from 'vitest';
import { createLane, OverloadedError } from '../../src/store/group-commit.ts';

test('items that arrive during a commit share the next commit', async () => {
  const batches: number[][] = [];
  const lane = createLane<number, string>({
    commit: async (items) => {
      batches.push(items);
      await new Promise(setImmediate);
      return items.map(String);
    },
    maxBatch: 3,
  });
  const results = await Promise.all([1, 2, 3, 4, 5].map((item) => lane.push(item)));
  expect(results).toEqual(['1', '2', '3', '4', '5']);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('after a large commit, the next one waits for more items up to three times', async () => {
  const batches: number[][] = [];
  const arrivals: number[][] = [];
  const sleep = vi.fn(async (ms: number) => {
    expect(ms).toBe(60);
    for (const item of arrivals.shift() ?? []) pushes.push(lane.push(item));
  });
  const lane = createLane<number, void>({
    commit: async (items) => {
      batches.push(items);
      return items.map(() => undefined);
    },
    gatherMs: 60,
    sleep,
  });
  const pushes: Promise<void>[] = [];
  const pushAll = async (...items: number[]): Promise<void> => {
    pushes.push(...items.map((item) => lane.push(item)));
    await lane.drain();
    await Promise.all(pushes);
  };
  const manyItems = Array.from({ length: 16 }, (_, index) => index - 15);
  await pushAll(...manyItems);
  expect(sleep).not.toHaveBeenCalled();

  arrivals.push([2], []);
  await pushAll(1);
  expect(sleep).toHaveBeenCalledTimes(2);
  await pushAll(3);
  expect(sleep).toHaveBeenCalledTimes(2);

  await pushAll(...manyItems);
  arrivals.push([5], [6], [7], [8]);
  await pushAll(4);
  expect(sleep).toHaveBeenCalledTimes(5);
  expect(batches).toEqual([manyItems, [1, 2], [3], manyItems, [4, 5, 6, 7]]);
});

test('a full batch does not wait for more items', async () => {
  const sizes: number[] = [];
  const sleep = vi.fn(() => Promise.resolve());
  const lane = createLane<number, void>({
    commit: async (items) => {
      sizes.push(items.length);
      return items.map(() => undefined);
    },
    maxBatch: 16,
    gatherMs: 60,
    sleep,
  });
  await Promise.all(Array.from({ length: 64 }, (_, index) => lane.push(index)));
  expect(sleep).not.toHaveBeenCalled();
  await Promise.all([lane.push(64), lane.push(65)]);
  await lane.drain();
  expect(sizes).toEqual([16, 16, 16, 16, 2]);
});

test('a failed commit rejects only its own items', async () => {
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

test('a full lane rejects new items immediately', async () => {
  const committedItems: number[] = [];
  const lane = createLane<number, void>({
    commit: async (items) => {
      committedItems.push(...items);
      return items.map(() => undefined);
    },
    maxQueue: 2,
  });
  const acceptedPushes = [lane.push(1), lane.push(2)];
  await expect(lane.push(3)).rejects.toBeInstanceOf(OverloadedError);
  await lane.drain();
  expect(committedItems).toEqual([1, 2]);
  await Promise.all(acceptedPushes);
});

test('commits run one at a time and include every item', async () => {
  const [committedItems, concurrencyLevels]: [number[], number[]] = [[], []];
  let runningCommits = 0;
  const lane = createLane<number, void>({
    commit: async (items) => {
      concurrencyLevels.push((runningCommits += 1));
      await new Promise(setImmediate);
      runningCommits -= 1;
      committedItems.push(...items);
      return items.map(() => undefined);
    },
    maxBatch: 2,
  });
  // Items arrive at different times, some of them just as a commit ends.
  const pushes = Array.from({ length: 20 }, async (_, item) => {
    for (let tick = 0; tick < item; tick += 1) await Promise.resolve();
    if (item % 3 === 0) await new Promise(setImmediate);
    await lane.push(item);
  });
  await Promise.all(pushes);
  expect(committedItems.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, item) => item),
  );
  expect(Math.max(...concurrencyLevels)).toBe(1);
});

const lockTimeout = () => Object.assign(new Error('locked'), { code: '55P03' });

test('an item that cannot be stored does not fail the rest of its batch', async () => {
  const storedItems: number[] = [];
  const lane = createLane<number, number>({
    commit: async (items, { isRetry }) => {
      if (items.includes(13)) throw new Error('poison');
      if (isRetry) expect(items.length).toBeLessThan(200);
      storedItems.push(...items);
      return items.map((item) => -item);
    },
  });
  const items = Array.from({ length: 200 }, (_, index) => index);
  const results = await Promise.allSettled(items.map((item) => lane.push(item)));
  for (const [item, response] of results.entries())
    expect(response).toMatchObject(
      item === 13 ? { reason: { message: 'poison' } } : { value: -item },
    );
  expect(storedItems.toSorted((a, b) => a - b)).toEqual(items.filter((item) => item !== 13));
});

test('only a commit with a single item may exceed the maximum weight', async () => {
  const batches: number[][] = [];
  const lane = createLane<number, void>({
    commit: async (items) => {
      batches.push(items);
      await new Promise(setImmediate);
      return items.map(() => undefined);
    },
    measureWeight: (item) => item,
    maxWeight: 10,
  });
  await Promise.all([4, 6, 1, 500, 3, 3, 3, 3].map((item) => lane.push(item)));
  expect(batches).toEqual([[4, 6], [1], [500], [3, 3, 3], [3]]);
});

test('a batch is not split while the database is unavailable', async () => {
  let calls = 0;
  const lane = createLane<number, void>({
    commit: async () => {
      calls += 1;
      throw Object.assign(new Error('disk full'), { code: '53100' });
    },
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((item) => lane.push(item)));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(calls).toBe(1);
});

test('a locked row fails only the item that needs it', async () => {
  let calls = 0;
  const locked = new Set<number>();
  const lane = createLane<number, void>({
    commit: async (items) => {
      calls += 1;
      if (items.some((item) => locked.has(item))) throw lockTimeout();
      return items.map(() => undefined);
    },
  });
  const items = Array.from({ length: 200 }, (_, index) => index);
  const push = () => Promise.allSettled(items.map((item) => lane.push(item)));
  locked.add(77);
  const [failed, ...otherFailures] = (await push()).filter(({ status }) => status === 'rejected');
  expect(failed).toMatchObject({ reason: { code: '55P03' } });
  expect(otherFailures).toEqual([]);
  calls = 0;
  for (const item of items) locked.add(item);
  expect((await push()).every(({ status }) => status === 'rejected')).toBe(true);
  expect(calls).toBe(11);
});
