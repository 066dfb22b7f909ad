import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { createRewardChanges, type RewardChanges } from '../../src/reward/reward-changes.ts';

let changes: RewardChanges;
afterEach(() => changes.stop());

/** Waits as a request does. The database answers each poll with these ids. */
function start(polls: string[][] = []) {
  const queries: unknown[] = [];
  changes = createRewardChanges({
    database: {
      async query<T>(_sql: string, params: unknown) {
        queries.push(params);
        return (polls.shift() ?? []).map((id) => ({ id })) as T[];
      },
    },
    log: pino({ level: 'silent' }),
    pollMs: 1,
  });
  const wait = (decisionId: string, signal = new AbortController().signal, timeoutMs = 60_000) =>
    changes.next(
      { scope: { accountId: 'acc_1', environment: 'live' }, decisionId, state: 'pending' },
      timeoutMs,
      signal,
    );
  return { queries, wait };
}

test('a request that gives up leaves the others of its decision waiting', async () => {
  const { wait } = start();
  const leaving = new AbortController();
  const left = wait('dec_1', leaving.signal);
  const staying = wait('dec_1');
  leaving.abort();
  expect(await left).toBe(false);
  expect(changes.waiting()).toBe(1);
  changes.announce(['dec_1']);
  expect(await staying).toBe(true);
  expect(changes.waiting()).toBe(0);
});

test('a change wakes the requests of its decision only', async () => {
  const { wait } = start();
  const others = wait('dec_2', undefined, 20);
  const own = [wait('dec_1'), wait('dec_1')];
  changes.announce(['dec_1', 'dec_3']);
  expect(await Promise.all(own)).toEqual([true, true]);
  expect(await others).toBe(false);
});

test('changes by other processes are found by one query for all', async () => {
  const { queries, wait } = start([[], ['dec_2']]);
  const others = wait('dec_1');
  expect(await wait('dec_2')).toBe(true);
  expect(queries[0]).toEqual([
    ['acc_1', 'acc_1'],
    ['live', 'live'],
    ['dec_1', 'dec_2'],
    ['pending', 'pending'],
  ]);
  changes.announce(['dec_1']);
  expect(await others).toBe(true);
});
