import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { adoptAll, findPredecessors } from '../../../src/adopt-storage.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import { createIndexedDbStore } from '../../../src/outbox/event-store.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { ServiceResult } from '../../../src/transport/service-client.ts';
import type { RewardStatus } from '../../../protocol/wire.ts';
import { deleteDatabase } from '../../support/delete-database.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  createSharedLocks,
  createSharedTabChannel,
  createTestNetwork,
} from '../../support/ports.ts';
import { decision, earn, earnedStatus, openTabWithLedger, watch } from './open-tab.ts';

/** The host, which is different in each test and is part of the database names. */
let host: string;
let openedDatabases: string[];
beforeEach(() => {
  host = `${crypto.randomUUID()}.test`;
  openedDatabases = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const tab of tabs.splice(0)) tab.rewards.destroy();
  for (const name of openedDatabases)
    for (const part of ['outbox', 'rewards']) await deleteDatabase(`${name}:${part}`);
});

const databasePrefix = (key: 'old' | 'new', environment = 'live'): string => {
  const name = `trueward:${environment}_${key.padEnd(12, '0')}@${host}`;
  if (!openedDatabases.includes(name)) openedDatabases.push(name);
  return name;
};

const tabs: ReturnType<typeof openTabWithLedger>[] = [];
/** Opens a tab with this key, and collects the rewards that its game receives. */
function openTabWithKey(key: 'old' | 'new', clock = systemClock) {
  const tab = openTabWithLedger(`${databasePrefix(key)}:rewards`, clock);
  tabs.push(tab);
  const received: string[] = [];
  const listen = () =>
    tab.rewards.onReward(({ decisionId }: EarnedReward) => void received.push(decisionId));
  return { ...tab, received, listen };
}

const openEventStore = (key: 'old' | 'new') =>
  createIndexedDbStore({ name: `${databasePrefix(key)}:outbox`, clock: systemClock });
const record = (id: string) => ({
  v: 1 as const,
  at: Date.now(),
  events: [
    JSON.stringify({ id, type: 'complete', decision_id: `dec_${id}`, token: `token-${id}` }),
  ],
});
const readStored = async (key: 'old' | 'new') => {
  const store = openEventStore(key);
  const records = await store.read(-1, 1_000);
  store.close();
  return records.map(({ value }) => value);
};
const storeEvents = async (key: 'old' | 'new', ids: string[]) => {
  const events = openEventStore(key);
  await events.append(ids.map(record));
  events.close();
};

const reject = (code: 'token_invalid' | 'environment_mismatch' | 'not_found' | 'key_revoked') =>
  ({ kind: 'refused', problem: { code } }) as const;
const pendingStatus: ServiceResult<RewardStatus> = {
  kind: 'ok',
  body: { id: 'dec_1', state: 'pending' },
};

/** Creates a page with the new key, or with the old one. */
function page(
  response: ServiceResult<RewardStatus> = pendingStatus,
  key: 'old' | 'new' = 'new',
  clock = systemClock,
) {
  const network = createTestNetwork();
  const locks = createSharedLocks();
  const readReward = vi.fn(() => Promise.resolve(response));
  const call = <T>() => readReward() as Promise<ServiceResult<T>>;
  const refresh = vi.fn(() => Promise.resolve());
  const settle = vi.fn<(statuses: RewardStatus[]) => Promise<void>>(() => Promise.resolve());
  const flush = vi.fn(() => Promise.resolve());
  const abortController = new AbortController();
  const parts = {
    name: databasePrefix(key),
    client: { call },
    clock,
    locks,
    connectivity: network,
    openTabChannel: createSharedTabChannel(),
    outbox: { flush },
    rewards: { refresh, settle },
    onChange: () => undefined,
  };
  const adopt = () => adoptAll(parts, abortController.signal);
  return { adopt, network, locks, readReward, refresh, settle, flush };
}

test('events and rewards left under an earlier key are adopted', async () => {
  const oldTab = openTabWithKey('old');
  await earn(oldTab.rewards, 'dec_1');
  await watch(oldTab.rewards, 'dec_2');
  oldTab.rewards.destroy();
  await storeEvents('old', ['1', '2', '3']);
  await storeEvents('new', ['4']);
  const { adopt, flush, refresh } = page();
  await adopt();
  expect(flush).toHaveBeenCalled();
  expect(refresh).toHaveBeenCalled();
  expect(await readStored('old')).toEqual([]);
  expect((await readStored('new')).map((value) => JSON.stringify(value))).toHaveLength(4);

  const { rewards, received, listen } = openTabWithKey('new');
  listen();
  await eventually(() => expect(received).toEqual(['dec_1']));
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_2', state: 'pending' }]);
  const returnedTab = openTabWithKey('old');
  returnedTab.listen();
  expect(await returnedTab.rewards.list()).toEqual([]);
  expect(returnedTab.received).toEqual([]);
});

test.each([reject('token_invalid'), reject('environment_mismatch')])(
  'another account’s data is left untouched and not checked again for a week ($problem.code)',
  async (response) => {
    const clock = createManualClock(Date.now());
    const oldTab = openTabWithKey('old');
    await earn(oldTab.rewards, 'dec_1');
    oldTab.rewards.destroy();
    await storeEvents('old', ['1']);
    const { adopt, readReward, locks } = page(response, 'new', { ...systemClock, now: clock.now });
    const acquire = vi.spyOn(locks, 'acquire');
    await adopt();
    const calls = readReward.mock.calls.length;
    await adopt();
    expect(readReward).toHaveBeenCalledTimes(calls);
    clock.setWallTime(clock.now() + 7 * 86_400_000);
    await adopt();
    expect(readReward).toHaveBeenCalledTimes(2 * calls);
    // The other account's tabs can still send.
    expect(acquire).not.toHaveBeenCalled();
    expect(await readStored('old')).toHaveLength(1);
    expect(await readStored('new')).toEqual([]);
    expect(await openTabWithKey('new').rewards.list()).toEqual([]);
    expect(await openTabWithKey('old').rewards.list()).toMatchObject([{ decisionId: 'dec_1' }]);
  },
);

test('no request is sent if there is nothing to adopt', async () => {
  const oldTab = openTabWithKey('old');
  const delivered = new Promise((resolve) => oldTab.rewards.onReward(resolve));
  await earn(oldTab.rewards, 'dec_1');
  await delivered;
  await eventually(async () => expect(await oldTab.rewards.list()).toEqual([]));
  oldTab.rewards.destroy();
  const { adopt, readReward } = page();
  await adopt();
  expect(readReward).not.toHaveBeenCalled();
});

test('a not_found response for a deleted decision also confirms the account', async () => {
  await storeEvents('old', ['1']);
  await page(reject('not_found')).adopt();
  expect(await readStored('new')).toHaveLength(1);
});

test.each<ServiceResult<RewardStatus>>([
  { kind: 'unreachable', cause: 'network' },
  { kind: 'retry', status: 503 },
  reject('key_revoked'),
])('nothing is moved until the service has confirmed the account ($kind)', async (response) => {
  await storeEvents('old', ['1']);
  const { adopt, network, readReward } = page(response);
  await adopt();
  expect(await readStored('old')).toHaveLength(1);
  readReward.mockResolvedValue(pendingStatus);
  network.reconnect();
  await eventually(async () => expect(await readStored('new')).toHaveLength(1));
});

test('events and rewards are not moved while a tab with the old key is sending', async () => {
  await storeEvents('old', ['1']);
  const { adopt, locks, readReward } = page();
  const release = locks.acquire(`${databasePrefix('old')}:outbox`, () => undefined);
  const adopted = adopt();
  await eventually(() => expect(readReward).toHaveBeenCalled());
  expect(await readStored('old')).toHaveLength(1);
  release();
  await adopted;
  expect(await readStored('old')).toEqual([]);
});

test('an open tab with the old key does not deliver a reward again', async () => {
  const oldTab = openTabWithKey('old');
  await earn(oldTab.rewards, 'dec_1');
  await page().adopt();
  // The reward is due according to this tab's cache, but not according to the database.
  oldTab.listen();
  const { received, listen } = openTabWithKey('new');
  listen();
  await eventually(() => expect(received).toEqual(['dec_1']));
  await eventually(async () => expect(await oldTab.rewards.list()).toEqual([]));
  expect(oldTab.received).toEqual([]);
});

test('a reward is not moved while a tab with the old key delivers it', async () => {
  const oldTab = openTabWithKey('old');
  let finish!: () => void;
  const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
  oldTab.rewards.onReward(handler);
  await earn(oldTab.rewards, 'dec_1');
  await eventually(() => expect(handler).toHaveBeenCalled());
  await page().adopt();
  finish();
  await eventually(async () => expect(await oldTab.rewards.list()).toEqual([]));
  expect(await openTabWithKey('new').rewards.list()).toEqual([]);
});

test('polls for an ad’s reward even without events, unless the ad may still be on the screen', async () => {
  const hourMs = 3_600_000;
  const clock = { ...systemClock, now: () => Date.now() - hourMs - 1 };
  const oldTab = openTabWithKey('old', clock);
  await oldTab.rewards.track(decision('dec_1'));
  oldTab.rewards.destroy();
  const recentTab = openTabWithKey('old');
  await recentTab.rewards.track(decision('dec_2'));
  recentTab.rewards.destroy();
  const { adopt, settle } = page({ kind: 'ok', body: earnedStatus('dec_1') });
  await adopt();
  const { rewards } = openTabWithKey('new');
  await rewards.list();
  for (const [statuses] of settle.mock.calls) await rewards.settle(statuses);
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1', state: 'earned' }]);
  await rewards.settle([earnedStatus('dec_2')]);
  expect(await rewards.list()).toHaveLength(1);
});

test('rewards move back when the old key is used again', async () => {
  const oldTab = openTabWithKey('old');
  await earn(oldTab.rewards, 'dec_1');
  oldTab.rewards.destroy();
  await page().adopt();
  await page(pendingStatus, 'old').adopt();
  expect(await openTabWithKey('new').rewards.list()).toEqual([]);
  expect(await openTabWithKey('old').rewards.list()).toMatchObject([{ decisionId: 'dec_1' }]);
});

test.each(['new', 'old'] as const)(
  'a page killed during any write loses no reward if the next page has the %s key',
  async (key) => {
    for (let killedWrite = 1; ; killedWrite += 1) {
      host = `${crypto.randomUUID()}.test`;
      const oldTab = openTabWithKey('old');
      await earn(oldTab.rewards, 'dec_1');
      await earn(oldTab.rewards, 'dec_2');
      oldTab.rewards.destroy();
      await storeEvents('old', ['1']);
      const put = IDBObjectStore.prototype.put;
      let writes = 0;
      const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
        this: IDBObjectStore,
        ...write
      ) {
        writes += 1;
        if (writes === killedWrite) this.transaction.abort();
        return put.apply(this, write);
      });
      await page().adopt();
      spy.mockRestore();
      const allRecords = [...(await listRewardIds('old')), ...(await listRewardIds('new'))];
      expect(new Set(allRecords).size).toBe(allRecords.length);
      await page(pendingStatus, key).adopt();
      expect(await listRewardIds(key)).toEqual(['dec_1', 'dec_2']);
      expect(await listRewardIds(key === 'old' ? 'new' : 'old')).toEqual([]);
      if (writes < killedWrite) return;
    }
  },
);

test('events that a crash left in both queues keep their ids when they are moved again', async () => {
  await storeEvents('old', ['1', '2']);
  vi.spyOn(IDBObjectStore.prototype, 'delete').mockImplementationOnce(() => {
    throw new Error('killed');
  });
  await page().adopt();
  expect(await readStored('old')).toHaveLength(2);
  await page().adopt();
  expect(await readStored('old')).toEqual([]);
  expect(new Set((await readStored('new')).map((value) => JSON.stringify(value))).size).toBe(2);
});

test('only databases for the same service and environment count as predecessors', () => {
  const ownName = 'trueward:live_000000000new@ads.test';
  const names = [
    `${ownName}:outbox`,
    'trueward:live_000000000old@ads.test:outbox',
    'trueward:live_000000000old@ads.test:rewards',
    'trueward:000000000old@ads.test:rewards',
    'trueward:sandbox_000000000old@ads.test:outbox',
    'trueward:live_000000000old@other.test:outbox',
    'trueward:live_000000000old@ads.test',
    'game',
  ];
  expect(findPredecessors(names, ownName)).toEqual([
    'trueward:live_000000000old@ads.test',
    'trueward:000000000old@ads.test',
  ]);
});

const listRewardIds = async (key: 'old' | 'new') => {
  const tab = openTabWithKey(key);
  const ids = (await tab.rewards.list()).map(({ decisionId }) => decisionId);
  tab.rewards.destroy();
  return ids;
};
