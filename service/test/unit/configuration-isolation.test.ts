import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openConfiguration } from '../../src/decision/configuration.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/store/database.ts';

const live = { environment: 'live' } as const;

/** Two accounts, of which one may be on a node that does not respond. */
function createCluster() {
  const state = { version: 1, unreachable: false };
  const query = async (text: string, params: readonly unknown[] = []): Promise<unknown[]> => {
    if (text.includes('config_versions'))
      return ['acc_1', 'acc_2'].map((account_id) => ({ account_id, version: state.version }));
    if (state.unreachable && params[0] === 'acc_1')
      throw Object.assign(new Error('no node'), { code: '08006', severity: 'ERROR' });
    return [];
  };
  const database = { query, execute: query } as unknown as Database;
  const open = () =>
    openConfiguration({
      database,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      pollMs: 60_000,
    });
  return { state, open };
}

test('while the node of one account is unreachable, the other accounts get their configuration', async () => {
  const { state, open } = createCluster();
  const configuration = await open();
  Object.assign(state, { version: 2, unreachable: true });
  await configuration.refresh();
  expect(['acc_1', 'acc_2'].map((id) => configuration.version(id))).toEqual([1, 2]);
  state.unreachable = false;
  await configuration.refresh();
  expect(configuration.version('acc_1')).toBe(2);
  expect(configuration.snapshot({ accountId: 'acc_1', ...live })).toBeDefined();
  await configuration.stop();
});

test('a process does not start with only some accounts’ keys', async () => {
  const { state, open } = createCluster();
  state.unreachable = true;
  await expect(open()).rejects.toThrow('no node');
});
