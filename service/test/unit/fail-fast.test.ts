import { afterEach, expect, test, vi } from 'vitest';
import { failFast } from '../../src/store/watch-database.ts';
import { DatabaseUnreachableError, isUnavailable } from '../../src/store/database-errors.ts';
import { createError, createFlakyDatabase } from './flaky-database.ts';

const fail = (): never => expect.unreachable();
const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
afterEach(() => void vi.useRealTimers());

test('during an outage, calls fail immediately until a probe succeeds', async () => {
  stopTime();
  const { state, database } = createFlakyDatabase();
  const [onOutage, onRecover] = [vi.fn(), vi.fn()];
  const guardedDatabase = failFast(database, { onOutage, onRecover });
  state.error = createError('ECONNREFUSED');
  await expect(guardedDatabase.query('SELECT 1')).rejects.toThrow('no');
  const { statements } = state;
  const results = await Promise.allSettled([
    guardedDatabase.query('SELECT 1'),
    guardedDatabase.transaction(async () => undefined),
  ]);
  for (const result of results)
    expect(result).toMatchObject({ reason: expect.any(DatabaseUnreachableError) as unknown });
  expect(state.statements).toBeLessThanOrEqual(statements + 1); // the probe
  await vi.advanceTimersByTimeAsync(2_000);
  expect(state.statements).toBeGreaterThan(statements);
  expect([onOutage.mock.calls.length, onRecover.mock.calls.length]).toEqual([1, 0]);
  state.error = undefined;
  await vi.advanceTimersByTimeAsync(500);
  expect(await guardedDatabase.query('SELECT 1')).toEqual([]);
  expect(onRecover).toHaveBeenCalledOnce();
  await guardedDatabase.close();
});

test.each([
  ['rejects the probe', createError('42P01'), [], true],
  ['answers it with nothing', undefined, [], true],
  ['has no commit that waits for a standby', undefined, [{ waiting: 0 }], true],
  ['has a commit that waits for a standby', undefined, [{ waiting: 1 }], false],
  ['is shutting down', createError('57P01'), [], false],
])('whether an outage has ended if the server %s', async (_, error, rows, hasEnded) => {
  stopTime();
  const { state, database } = createFlakyDatabase();
  const query = async () => {
    await database.query('SELECT 1');
    return rows as never[];
  };
  const onRecover = vi.fn();
  const guardedDatabase = failFast({ ...database, query }, { onOutage: () => {}, onRecover });
  state.error = createError('ECONNREFUSED');
  await expect(guardedDatabase.query('SELECT 1')).rejects.toThrow('no');
  state.error = error;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(onRecover).toHaveBeenCalledTimes(hasEnded ? 1 : 0);
  // As soon as the commit is confirmed.
  [state.error, rows.length] = [undefined, 0];
  await vi.advanceTimersByTimeAsync(500);
  expect(onRecover).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
  await guardedDatabase.close();
});

test('a rejected statement is not treated as an outage', async () => {
  const { state, database } = createFlakyDatabase();
  const guardedDatabase = failFast(database, { onOutage: fail, onRecover: fail });
  // Disk full, statement timeout, write to a standby, unique violation.
  for (const code of ['53100', '57014', '25006', '23505']) {
    state.error = createError(code);
    await expect(guardedDatabase.query('INSERT')).rejects.toBe(state.error);
    expect(isUnavailable(state.error)).toBe(code !== '23505');
  }
  state.error = undefined;
  expect(await guardedDatabase.query('SELECT 1')).toEqual([]);
});

test('a server error with a connection error code is not treated as an outage', async () => {
  const { state, database } = createFlakyDatabase();
  const guardedDatabase = failFast(database, { onOutage: fail, onRecover: fail });
  state.error = Object.assign(createError('08P01'), { severity: 'ERROR' });
  await expect(guardedDatabase.query('INSERT')).rejects.toBe(state.error);
  expect(isUnavailable(state.error)).toBe(false);
  state.error = undefined;
  expect(await guardedDatabase.query('SELECT 1')).toEqual([]);
});

test('an unreachable node behind a reachable server is not treated as an outage', async () => {
  const { state, database } = createFlakyDatabase();
  const guardedDatabase = failFast(database, { onOutage: fail, onRecover: fail });
  for (const code of ['08006', '08001', '57P01']) {
    state.error = Object.assign(createError(code), { severity: 'ERROR' });
    await expect(guardedDatabase.query('INSERT')).rejects.toBe(state.error);
    expect(isUnavailable(state.error)).toBe(true);
  }
  state.error = undefined;
  expect(await guardedDatabase.query('SELECT 1')).toEqual([]);
});
