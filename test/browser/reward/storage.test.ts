import { promisifyRequest } from 'idb-keyval';
import { expect, test, vi } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  decision,
  earn,
  earnedStatus,
  openLedgerStore,
  lockLedger,
  openTab,
  watch,
} from './open-tab.ts';
import { waitingRewardId } from '../neighbor.ts';

test('delivers a reward once if the database is read-only', async () => {
  const { rewards } = openTab();
  await earn(rewards, 'dec_1');
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  const received: string[] = [];
  rewards.onReward(({ decisionId }) => void received.push(decisionId));
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(rewards.diagnostics().storage).toBe('memory');
  await rewards.list();
  expect(await rewards.list()).toEqual([]);
  expect(received).toEqual(['dec_1']);
  vi.restoreAllMocks();
  await rewards.track(decision('dec_2'));
  expect(rewards.diagnostics().storage).toBe('indexeddb');
});

test('a tab whose write failed does not deliver a reward that another tab has delivered', async () => {
  const [first, second] = [openTab(), openTab()];
  const received: string[] = [];
  await first.rewards.track(decision('dec_1'));
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  await first.rewards.setWatched('dec_1');
  expect(put).toHaveBeenCalledOnce();
  second.rewards.onReward(() => void received.push('second'));
  await second.rewards.list();
  await second.rewards.settle([earnedStatus('dec_1')]);
  await eventually(async () => expect(await second.rewards.list()).toEqual([]));
  await first.rewards.settle([earnedStatus('dec_1')]);
  await watch(first.rewards, 'dec_2');
  first.rewards.onReward(({ decisionId }) => void received.push(decisionId));
  await first.rewards.settle([earnedStatus('dec_2')]);
  await eventually(async () => expect(await first.rewards.list()).toEqual([]));
  expect(received).toEqual(['second', 'dec_2']);
});

test('works without a database, and reports that it keeps rewards in memory', async () => {
  const blockedDatabases = {
    open: () => {
      throw new DOMException('denied', 'SecurityError');
    },
  } as unknown as IDBFactory;
  const { rewards } = openTab(systemClock, blockedDatabases);
  const deliveredReward = new Promise<EarnedReward>((resolve) => rewards.onReward(resolve));
  await earn(rewards, 'dec_1');
  expect(await deliveredReward).toMatchObject({ decisionId: 'dec_1' });
  expect(rewards.diagnostics().storage).toBe('memory');
});

test('an unresponsive database never blocks a call indefinitely', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock);
  await watch(rewards, 'dec_1');
  const unlock = await lockLedger();
  const listing = rewards.list();
  let hasWatched = false;
  void watch(rewards, 'dec_2').then(() => (hasWatched = true));
  await eventually(async () => {
    await clock.advance(5_000);
    expect(hasWatched).toBe(true);
  });
  expect(await listing).toMatchObject([{ decisionId: 'dec_1' }]);
  expect(rewards.diagnostics().storage).toBe('memory');
  unlock();
  await eventually(async () => {
    expect(await rewards.list()).toHaveLength(2);
    expect(rewards.diagnostics().storage).toBe('indexeddb');
  });
});

test('reads all rewards from a ledger that is larger than one page', async () => {
  const oldTab = openTab();
  const ids = Array.from({ length: 401 }, (_, index) => `dec_${index}`);
  await Promise.all(ids.map((id) => watch(oldTab.rewards, id)));
  oldTab.rewards.destroy();
  const { rewards } = openTab();
  const entries = await rewards.list();
  expect(new Set(entries.map(({ decisionId }) => decisionId))).toEqual(new Set(ids));
});

test("entries that a player has edited are ignored and don't affect the others", async () => {
  const tab = openTab();
  await earn(tab.rewards, 'dec_1');
  const { store, close } = await openLedgerStore();
  const [entry] = (await promisifyRequest(store.getAll())) as Record<string, unknown>[];
  const edits: unknown[] = [
    { decisionId: {} },
    { decisionId: undefined },
    { placement: 1 },
    { token: null },
    { state: ['earned'] },
    { trackedAt: '1' },
    { trackedAt: NaN },
    { reward: undefined },
    { reward: { type: 'coins', amount: '1e9' } },
    { reward: { type: {}, amount: 1 } },
  ].map((edit) => ({ ...entry, decisionId: 'edited', ...edit }));
  for (const [index, value] of [...edits, null, 'text', [], { v: 1 }].entries())
    store.put(value, `x${index}`);
  close();
  tab.rewards.destroy();
  const { rewards } = openTab();
  const received: EarnedReward[] = [];
  rewards.onReward((reward) => void received.push(reward));
  await eventually(async () => expect(await rewards.list()).toEqual([]));
  expect(received).toEqual([
    expect.objectContaining({ decisionId: 'dec_1', reward: { type: 'coins', amount: 10 } }),
  ]);
  expect(rewards.diagnostics().lastError).toBeUndefined();
});

test('a failed write is reported with its cause', async () => {
  const { rewards } = openTab();
  await rewards.track(decision('dec_1'));
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(function (
    this: IDBObjectStore,
    value: unknown,
    key?: IDBValidKey,
  ) {
    return this.add(value, key);
  });
  await rewards.setWatched('dec_1');
  expect(rewards.diagnostics()).toMatchObject({
    storage: 'memory',
    lastError: expect.stringContaining('ConstraintError'),
  });
});

test('removes a settled reward after 30 days, but keeps a pending one', async () => {
  const pastClock = { ...systemClock, now: () => Date.now() - 31 * 86_400_000 };
  const oldTab = openTab(pastClock);
  await watch(oldTab.rewards, 'dec_1');
  await watch(oldTab.rewards, 'dec_2');
  await oldTab.rewards.settle([{ id: 'dec_1', state: 'denied' }]);
  oldTab.rewards.destroy();
  openTab();
  await eventually(async () => {
    const { store, close } = await openLedgerStore();
    const keys = await promisifyRequest(store.getAllKeys());
    close();
    expect(keys).toEqual(['dec_2', waitingRewardId]);
  });
});
