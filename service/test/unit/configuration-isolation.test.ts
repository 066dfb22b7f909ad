import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openConfiguration } from '../../src/decision/configuration.ts';
import type { Database } from '../../src/store/database.ts';
import { createManualClock } from '../manual-clock.ts';

const live = { environment: 'live' } as const;
const key = { ...live, kind: 'sk', allowed_origins: [], rate_limit: null, revoked_at: null };

/**
 * Simulates a Citus cluster with two accounts on different nodes. `acc_1`'s node can become unreachable. The shards
 * return the keys in `state.keys`.
 */
function createCluster() {
  const clock = createManualClock(0);
  const state = { version: 1, unreachable: false, keys: [] as string[], readMs: 0, reads: 0 };
  const query = async (text: string, params: readonly unknown[] = []): Promise<unknown[]> => {
    if (text.includes('config_versions'))
      return ['acc_1', 'acc_2']
        .filter((account_id) => account_id === (params[0] ?? account_id))
        .map((account_id) => ({ account_id, version: state.version }));
    if (state.unreachable && params[0] === 'acc_1')
      throw Object.assign(new Error('no node'), { code: '08006', severity: 'ERROR' });
    if (text.includes('pg_extension') || text.includes('citus_is_coordinator'))
      return [{ coordinator: true }];
    if (text.includes('FROM resources') && params[0] === 'acc_1') {
      state.reads += 1;
      clock.advance(state.readMs);
    }
    if (text.includes('FROM keys')) return state.keys.map((hash) => ({ ...key, id: hash, hash }));
    return [];
  };
  const database = { query, execute: query } as unknown as Database;
  const open = () =>
    openConfiguration({
      database,
      clock,
      log: pino({ level: 'silent' }),
      pollMs: 60_000,
    });
  return { state, open, clock };
}

test('an unreachable node does not block configuration updates for other accounts', async () => {
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

test('a process does not start if it cannot read every account’s keys', async () => {
  const { state, open } = createCluster();
  state.unreachable = true;
  await expect(open()).rejects.toThrow('no node');
});

test('a change that becomes visible only after its version number is applied by a later poll', async () => {
  const { state, open, clock } = createCluster();
  const configuration = await open();
  state.version = 2;
  await configuration.refresh();
  state.keys = ['visible a moment later'];
  await configuration.refresh();
  expect(configuration.findKey('visible a moment later')).toBeUndefined();
  clock.set(clock.nowMs() + 500);
  await configuration.refresh();
  expect(configuration.findKey('visible a moment later')).toBeDefined();
  state.keys = ['recovered after a crash'];
  clock.set(clock.nowMs() + 90_000);
  await configuration.refresh();
  expect(configuration.findKey('recovered after a crash')).toBeDefined();
  await configuration.stop();
});

test('a process applies its own change even if a poll has already read the new version', async () => {
  const { state, open } = createCluster();
  const configuration = await open();
  state.version = 2;
  await configuration.refresh();
  state.keys = ['own change'];
  await configuration.refresh('acc_1');
  expect(configuration.findKey('own change')).toBeDefined();
  await configuration.stop();
});

test('an account that has used up its time waits for its changes, and delays no other account', async () => {
  const { state, open } = createCluster();
  const configuration = await open();
  Object.assign(state, { readMs: 600, reads: 0 });
  for (let change = 0; change < 2; change += 1) {
    state.version += 1;
    await configuration.refresh('acc_1');
  }
  state.version += 1;
  let isApplied = false;
  const changes = Array.from({ length: 20 }, async () => {
    await configuration.refresh('acc_1');
    isApplied = true;
  });
  await configuration.refresh('acc_2');
  await configuration.refresh();
  expect([configuration.version('acc_2'), isApplied, state.reads]).toEqual([
    state.version,
    false,
    2,
  ]);
  await configuration.stop();
  await Promise.all(changes);
  expect([configuration.version('acc_1'), state.reads]).toEqual([state.version, 3]);
});
