import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchDisk } from '../../src/store/watch-database.ts';
import { createError, createFlakyDatabase } from './flaky-database.ts';

const diskFull = createError('53100');

function openDisk() {
  const { state, database: flaky } = createFlakyDatabase();
  const [onFull, onFree, close] = [vi.fn(), vi.fn(), vi.fn(flaky.close)];
  const database = watchDisk({ ...flaky, close }, { onFull, onFree });
  return { state, database, onFull, onFree, close };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('a full disk is reported once, and probed every five seconds until a write succeeds', async () => {
  const { state, database, onFull, onFree } = openDisk();
  await database.query('SELECT 1');
  expect(database.isFull?.()).toBe(false);
  state.error = diskFull;
  for (let call = 0; call < 2; call += 1)
    await expect(database.query('INSERT')).rejects.toThrow('no');
  expect(onFull).toHaveBeenCalledExactlyOnceWith(diskFull);
  expect(database.isFull?.()).toBe(true);
  const { statements } = state;
  await vi.advanceTimersByTimeAsync(4_999);
  expect(state.statements).toBe(statements);
  await vi.advanceTimersByTimeAsync(10_001);
  expect(state.statements).toBe(statements + 3);
  expect([onFull.mock.calls.length, onFree.mock.calls.length]).toEqual([1, 0]);
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(onFree).toHaveBeenCalledExactlyOnceWith(20_000);
  expect(database.isFull?.()).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
  // The next time is another one.
  state.error = diskFull;
  await expect(database.query('INSERT')).rejects.toThrow('no');
  expect(onFull).toHaveBeenCalledTimes(2);
  await database.close();
});

test.each([
  ['the database doesn’t respond', createError('ECONNREFUSED'), true],
  ['the role may not create temporary tables', createError('42501'), false],
])('if %s, the disk is full until the next probe: %s', async (_, error, isFull) => {
  const { state, database, onFree } = openDisk();
  state.error = diskFull;
  await expect(database.query('INSERT')).rejects.toThrow('no');
  state.error = error;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(database.isFull?.()).toBe(isFull);
  expect(onFree).toHaveBeenCalledTimes(isFull ? 0 : 1);
  await database.close();
});

test('nothing is probed or reported after `close`, and other errors say nothing about the disk', async () => {
  const { state, database, onFull, onFree, close } = openDisk();
  state.error = createError('23505');
  await expect(database.query('INSERT')).rejects.toThrow('no');
  expect([onFull.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
  state.error = diskFull;
  await expect(database.query('INSERT')).rejects.toThrow('no');
  const { statements } = state;
  await database.close();
  expect(close).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([state.statements, onFree.mock.calls.length]).toEqual([statements, 0]);
});

test.each([
  ['succeeds', undefined],
  ['fails', diskFull],
])('a probe that %s after `close` does nothing more', async (_, error) => {
  const { state, database, onFree } = openDisk();
  state.error = diskFull;
  await expect(database.query('INSERT')).rejects.toThrow('no');
  state.error = error;
  vi.advanceTimersByTime(5_000);
  await database.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(onFree).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
