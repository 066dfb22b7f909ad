import { expect, test } from 'vitest';
import { createLane, OverloadedError } from '../../src/store/group-commit.ts';
import { createGate, createLanes } from '../../src/store/lanes.ts';

interface Item {
  owner: string;
}

/** Creates lanes whose commits run until the test ends them. */
function createHeldLanes(limits: { maxLanes?: number; maxItems?: number } = {}) {
  const startedOwners: string[] = [];
  const heldCommits: { owner: string; end(): void }[] = [];
  const lanes = createLanes<Item, void>({
    findOwner: ({ owner }) => owner,
    openLane: (owner) =>
      createLane<Item, void>({
        maxBatch: 1,
        commit: async (items) => {
          startedOwners.push(owner);
          await new Promise<void>((end) => heldCommits.push({ owner, end }));
          return items.map(() => undefined);
        },
      }),
    ...limits,
  });
  const waitForTurn = () => new Promise(setImmediate);
  const release = (owner: string): void => {
    const index = heldCommits.findIndex((commit) => commit.owner === owner);
    for (const { end } of heldCommits.splice(index, 1)) end();
  };
  const releaseAll = async (): Promise<void> => {
    for (; !lanes.isIdle(); await waitForTurn()) for (const { end } of heldCommits.splice(0)) end();
  };
  return { lanes, started: startedOwners, release, releaseAll, waitForTurn };
}

test('owners do not wait for each other’s commits', async () => {
  const { lanes, started, release, waitForTurn } = createHeldLanes();
  const [first, second] = [lanes.push({ owner: 'a' }), lanes.push({ owner: 'b' })];
  await waitForTurn();
  expect(started).toEqual(['a', 'b']);
  release('b');
  await second;
  expect(lanes.isIdle()).toBe(false);
  release('a');
  await first;
  await lanes.drain();
  expect(lanes.isIdle()).toBe(true);
});

test('a new owner is rejected until a lane is idle', async () => {
  const { lanes, started, release, releaseAll, waitForTurn } = createHeldLanes({ maxLanes: 2 });
  const [first, second] = [lanes.push({ owner: 'a' }), lanes.push({ owner: 'b' })];
  await waitForTurn();
  await expect(lanes.push({ owner: 'c' })).rejects.toBeInstanceOf(OverloadedError);
  release('a');
  await first;
  await waitForTurn();
  const third = lanes.push({ owner: 'c' });
  await waitForTurn();
  expect(started).toEqual(['a', 'b', 'c']);
  await releaseAll();
  await Promise.all([second, third]);
});

test('when the queue is full, items from the owner with the most items are rejected', async () => {
  const { lanes, started, releaseAll, waitForTurn } = createHeldLanes({ maxItems: 10 });
  const flood = Array.from({ length: 30 }, () => lanes.push({ owner: 'flood' }));
  const other = lanes.push({ owner: 'other' });
  const results = Promise.allSettled(flood);
  await waitForTurn();
  expect(started).toEqual(['flood', 'other']);
  await releaseAll();
  await other;
  const rejected = (await results).filter(({ status }) => status === 'rejected');
  expect(rejected).toHaveLength(20);
});

test('owners whose rows are locked share a single slot', async () => {
  const gate = createGate({ slots: 3, nowMs: () => 0 });
  const rejectLocked = () => Promise.reject(Object.assign(new Error('locked'), { code: '55P03' }));
  const slowOwners = ['a', 'b', 'c', 'd'];
  for (const owner of slowOwners)
    await expect(gate.run(owner, rejectLocked)).rejects.toThrow('locked');
  let [running, maxRunning] = [0, 0];
  const endCommits: (() => void)[] = [];
  const holdSlot = async (): Promise<void> => {
    maxRunning = Math.max(maxRunning, (running += 1));
    await new Promise<void>((resolve) => endCommits.push(resolve));
    running -= 1;
  };
  const runs = slowOwners.map((owner) => gate.run(owner, holdSlot));
  await new Promise(setImmediate);
  expect(running).toBe(1);
  await gate.run('free', async () => undefined);
  while (endCommits.length > 0) {
    endCommits.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(runs);
  // Slow owners ran one at a time. An owner counts as slow until its next successful transaction.
  expect(maxRunning).toBe(1);
});
