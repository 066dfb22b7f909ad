import { promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Decision, RewardStatus } from '../../../protocol/wire.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { createRewards } from '../../../src/reward/create-rewards.ts';
import { claimMs } from '../../../src/reward/reward-machine.ts';
import { createLedger } from '../../../src/reward/ledger.ts';
import type { Rewards } from '../../../src/reward/rewards.ts';
import type { Answer } from '../../../src/transport/service-client.ts';
import { deferred } from '../../support/deferred.ts';
import { deleteDatabase } from '../../support/delete-database.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { testNetwork, testPage } from '../../support/ports.ts';
import { eventually } from '../../support/eventually.ts';

let name: string;
const open: Rewards[] = [];
const decision = (id: string): Decision => ({
  id,
  status: 'filled',
  placement: 'revive',
  format: 'rewarded',
  reward: { type: 'coins', amount: 10 },
  token: `token-${id}`,
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:10:00.000Z',
});
const earned = (id: string): RewardStatus => ({
  id,
  state: 'earned',
  reward: { type: 'coins', amount: 10 },
  receipt: 'jws',
});
const offline: Answer<RewardStatus> = { kind: 'unreachable', cause: 'network' };

/** A tab: its own connection to the same ledger. */
function openTab(clock: Clock = systemClock, indexedDB?: IDBFactory, ledgerClock = clock) {
  const asked: { id: string; waitS: number | undefined; signal: AbortSignal | undefined }[] = [];
  const answers: (Answer<RewardStatus> | Promise<Answer<RewardStatus>>)[] = [];
  const page = testPage();
  const network = testNetwork();
  const frames: (() => void)[] = [];
  let running = true;
  const rewards = createRewards({
    clock,
    random: () => 1,
    lifecycle: page,
    connectivity: network,
    ledger: createLedger({ name, clock: ledgerClock, indexedDB }),
    deliver: (callback) => (running ? queueMicrotask(callback) : frames.push(callback)),
    client: {
      call: () => Promise.reject(new Error('not used')),
      sendEvents: () => Promise.reject(new Error('not used')),
      async readReward(id, _token, options) {
        asked.push({ id, waitS: options?.waitS, signal: options?.signal });
        return answers.shift() ?? offline;
      },
    },
  });
  open.push(rewards);
  const stopFrames = () => (running = false);
  return { rewards, asked, answers, page, network, frames, stopFrames };
}
/** The clock without the time limits of the database, where a test waits for a timer of the rewards. */
const apartFromDatabase = (clock: Clock): Clock => ({ ...clock, after: systemClock.after });
const watch = async (rewards: Rewards, id: string) => {
  await rewards.track(decision(id));
  await rewards.watched(id);
};

/** Holds a transaction open over all of the database until it is told to let go, so that others wait. */
async function occupy(database: string): Promise<() => void> {
  const connection = await promisifyRequest(indexedDB.open(database));
  const store = connection.transaction('rewards', 'readwrite').objectStore('rewards');
  let held = true;
  const hold = (): void => {
    if (held) store.get('none').onsuccess = hold;
    else connection.close();
  };
  hold();
  return () => (held = false);
}

beforeEach(() => {
  name = `rewards-${newRandomId()}`;
});
afterEach(async () => {
  for (const rewards of open.splice(0)) rewards.destroy();
  await deleteDatabase(name);
});

test('hands an earned reward over once, and remembers that over a reload', async () => {
  const { rewards } = openTab();
  const got: EarnedReward[] = [];
  rewards.onReward((reward) => void got.push(reward));
  await watch(rewards, 'dec_1');
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1', state: 'pending' }]);
  await rewards.settle([earned('dec_1')]);
  await rewards.settle([earned('dec_1')]);
  await eventually(async () => expect(await rewards.list()).toEqual([]));
  const reward = { type: 'coins', amount: 10 };
  expect(got).toEqual([{ decisionId: 'dec_1', placement: 'revive', reward, receipt: 'jws' }]);
  rewards.destroy();
  const next = openTab().rewards;
  next.onReward((again) => void got.push(again));
  expect(await next.status('dec_1')).toMatchObject({ state: 'earned', receipt: 'jws' });
  expect(await next.list()).toEqual([]);
  expect(got).toHaveLength(1);
});

test('a decision that is shown again, as one of the game’s own server can be, gives no second reward', async () => {
  const { rewards } = openTab();
  const got: string[] = [];
  rewards.onReward(({ decisionId }) => void got.push(decisionId));
  for (let shows = 1; shows <= 2; shows += 1) {
    await watch(rewards, 'dec_1');
    await rewards.settle([earned('dec_1')]);
    await eventually(async () => expect(await rewards.list()).toEqual([]));
  }
  expect(await rewards.confirmation('dec_1', 0)).toMatchObject({ state: 'earned' });
  expect(got).toEqual(['dec_1']);
});

test('a reward whose handler is at work while the SDK is destroyed counts as taken', async () => {
  const { rewards } = openTab();
  const saving = deferred();
  const first = vi.fn(() => saving.promise);
  rewards.onReward(first);
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(first).toHaveBeenCalled());
  rewards.destroy();
  saving.resolve();
  await eventually(async () => expect(await openTab().rewards.list()).toEqual([]));
});

test('a reward whose tab died before it knew of it is handed over by the tab that hears of it', async () => {
  const { rewards } = openTab();
  const got: EarnedReward[] = [];
  rewards.onReward((reward) => void got.push(reward));
  await rewards.list();
  const dying = openTab();
  await dying.rewards.track(decision('dec_1'));
  dying.rewards.destroy();
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(got.map(({ decisionId }) => decisionId)).toEqual(['dec_1']));
});

test('a reward that waits for a frame while the SDK is destroyed goes to the next one at once', async () => {
  const { rewards, frames, stopFrames } = openTab();
  stopFrames();
  rewards.onReward(() => undefined);
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(frames).toHaveLength(1));
  rewards.destroy();
  const second = vi.fn();
  openTab().rewards.onReward(second);
  await eventually(() => expect(second).toHaveBeenCalled());
});

test('a reward that was earned before any handler came is handed over after a reload', async () => {
  const { rewards } = openTab();
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  rewards.destroy();
  const handed = new Promise<EarnedReward>((resolve) => openTab().rewards.onReward(resolve));
  expect(await handed).toMatchObject({ decisionId: 'dec_1' });
});

test('calls a handler that threw again after a pause, and then no more', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock, undefined, apartFromDatabase(clock));
  let calls = 0;
  rewards.onReward(() => {
    calls += 1;
    if (calls === 1) throw new Error('the save failed');
  });
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(rewards.diagnostics().handlerErrors).toBe(1));
  expect(rewards.diagnostics()).toMatchObject({
    undelivered: 1,
    lastError: 'Error: the save failed',
    storage: 'indexeddb',
  });
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(999);
  expect(calls).toBe(1);
  await clock.advance(1);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(calls).toBe(2);
  expect(clock.timers()).toBe(0);
});

test('waits for the promise of a handler, and keeps the order', async () => {
  const { rewards } = openTab();
  const log: string[] = [];
  rewards.onReward(async ({ decisionId }) => {
    log.push(`${decisionId} begins`);
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    log.push(`${decisionId} ends`);
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earned('dec_1'), earned('dec_2')]);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(log).toEqual(['dec_1 begins', 'dec_1 ends', 'dec_2 begins', 'dec_2 ends']);
});

test('a handler that fails does not hold up later rewards', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock, undefined, apartFromDatabase(clock));
  const got: string[] = [];
  rewards.onReward(({ decisionId }) => {
    if (decisionId === 'dec_1' && !got.includes('dec_2')) throw new Error('not yet');
    got.push(decisionId);
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earned('dec_1'), earned('dec_2')]);
  await eventually(() => expect(got).toEqual(['dec_2']));
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_000);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(got).toEqual(['dec_2', 'dec_1']);
});

test('a handler that does not settle holds up nothing, and is not called again in this page', async () => {
  const clock = manualClock();
  const { rewards, page } = openTab(clock, undefined, apartFromDatabase(clock));
  const saved = deferred();
  const got: string[] = [];
  rewards.onReward(async ({ decisionId }) => {
    got.push(decisionId);
    if (decisionId === 'dec_1') await saved.promise;
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earned('dec_1'), earned('dec_2')]);
  await eventually(() => expect(got).toEqual(['dec_1']));
  await clock.advance(claimMs);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(1));
  expect(got).toEqual(['dec_1', 'dec_2']);
  page.tell('visible');
  await rewards.list();
  await clock.advance(3_600_000);
  expect(got).toEqual(['dec_1', 'dec_2']);
  saved.resolve();
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(clock.timers()).toBe(0);
});

test('a reward whose tab died while handing it over goes to another tab after its claim', async () => {
  const clock = manualClock();
  const dying = openTab(clock);
  await watch(dying.rewards, 'dec_1');
  const called = new Promise<void>((resolve) => {
    dying.rewards.onReward(() => {
      resolve();
      return new Promise(() => undefined);
    });
  });
  await dying.rewards.settle([earned('dec_1')]);
  await called;
  dying.rewards.destroy();
  const claimedAt = clock.now();
  const heir = openTab(clock);
  let got = 0;
  heir.rewards.onReward(() => void (got = clock.now()));
  await eventually(async () => {
    await clock.advance(1_000);
    expect(got).toBeGreaterThanOrEqual(claimedAt + claimMs);
  });
});

test('a reward is not given again and again where the database can be read but not written', async () => {
  const { rewards } = openTab();
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  const got: string[] = [];
  rewards.onReward(({ decisionId }) => void got.push(decisionId));
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(rewards.diagnostics().storage).toBe('memory');
  await rewards.list();
  expect(await rewards.list()).toEqual([]);
  expect(got).toEqual(['dec_1']);
  vi.restoreAllMocks();
  await rewards.track(decision('dec_2'));
  expect(rewards.diagnostics().storage).toBe('indexeddb');
});

test('a reward that is due stays so while no handler is there', async () => {
  const { rewards, frames, stopFrames } = openTab();
  stopFrames();
  const off = rewards.onReward(() => undefined);
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(frames).toHaveLength(1));
  off();
  frames.forEach((frame) => frame());
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1' }]);
});

test('two tabs never hand over the same reward', async () => {
  const first = openTab();
  const second = openTab();
  const got: string[] = [];
  await watch(first.rewards, 'dec_1');
  await second.rewards.list();
  const handler = (tab: string) => async () => {
    got.push(tab);
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
  };
  first.rewards.onReward(handler('first'));
  second.rewards.onReward(handler('second'));
  await Promise.all([
    first.rewards.settle([earned('dec_1')]),
    second.rewards.settle([earned('dec_1')]),
  ]);
  await eventually(async () => {
    expect(await first.rewards.list()).toEqual([]);
    expect(await second.rewards.list()).toEqual([]);
  });
  expect(got).toHaveLength(1);
});

test('a hidden tab, which gets no frames, leaves the reward to a visible one', async () => {
  const first = openTab();
  first.stopFrames();
  const got: string[] = [];
  first.rewards.onReward(() => void got.push('first'));
  await watch(first.rewards, 'dec_1');
  await first.rewards.settle([earned('dec_1')]);
  await eventually(() => expect(first.frames).toHaveLength(1));
  const second = openTab();
  second.rewards.onReward(() => void got.push('second'));
  await second.rewards.list();
  first.page.tell('hidden');
  second.page.tell('visible');
  await eventually(() => expect(got).toEqual(['second']));
  first.frames.forEach((frame) => frame());
  first.page.tell('visible');
  await eventually(async () => expect(await first.rewards.list()).toEqual([]));
  expect(got).toEqual(['second']);
});

test('confirmation gives the final word at once, or pending when its time is up', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock, undefined, apartFromDatabase(clock));
  await watch(rewards, 'dec_1');
  const late = rewards.confirmation('dec_1', 1_000);
  await clock.advance(1_000);
  expect(await late).toMatchObject({ state: 'pending' });
  const soon = rewards.confirmation('dec_1', 1_000);
  await rewards.settle([{ id: 'dec_1', state: 'denied', reason: 'watched_too_little' }]);
  expect(await soon).toMatchObject({ state: 'denied', reason: 'watched_too_little' });
  expect(await rewards.confirmation('dec_1', 1_000)).toEqual(await soon);
  expect(clock.timers()).toBe(0);
});

test('asks the service with waiting requests, backs off, and stops when nothing is pending', async () => {
  const clock = manualClock();
  const { rewards, asked, answers } = openTab(clock, undefined, apartFromDatabase(clock));
  answers.push({ kind: 'ok', body: { id: 'dec_1', state: 'pending' } });
  answers.push({ kind: 'retry', status: 503, retryAfterMs: 10_000 });
  answers.push({ kind: 'ok', body: earned('dec_1') });
  await watch(rewards, 'dec_1');
  await clock.advance(1_500);
  await eventually(() => expect(clock.timers()).toBe(1));
  expect(asked).toMatchObject([{ id: 'dec_1', waitS: 25 }]);
  await clock.advance(1_000);
  await eventually(() => expect(clock.timers()).toBe(1));
  expect(asked).toHaveLength(2);
  await clock.advance(11_999);
  expect(asked).toHaveLength(2);
  await clock.advance(1);
  await eventually(() =>
    expect(rewards.diagnostics()).toMatchObject({ pending: 0, undelivered: 1 }),
  );
  expect(asked).toHaveLength(3);
  expect(clock.timers()).toBe(0);
});

test('a grant that arrives hours later is still handed over, by a page that stayed open', async () => {
  const clock = manualClock();
  const { rewards, answers } = openTab(clock, undefined, apartFromDatabase(clock));
  const handed: EarnedReward[] = [];
  rewards.onReward((reward) => void handed.push(reward));
  await watch(rewards, 'dec_1');
  for (let hour = 0; hour < 5; hour++) {
    answers.push({ kind: 'ok', body: { id: 'dec_1', state: 'pending' } });
    await clock.advance(3_600_000);
    await eventually(() => expect(clock.timers()).toBe(1));
  }
  expect(handed).toEqual([]);
  expect(rewards.diagnostics().pending).toBe(1);
  answers.unshift({ kind: 'ok', body: earned('dec_1') });
  await clock.advance(3_600_000);
  await eventually(() => expect(handed).toMatchObject([{ decisionId: 'dec_1' }]));
});

test('a waiting request ends when the answer came another way', async () => {
  const clock = manualClock();
  const { rewards, asked, answers } = openTab(clock);
  answers.push(new Promise(() => undefined));
  await watch(rewards, 'dec_1');
  await clock.advance(1_500);
  await rewards.settle([earned('dec_1')]);
  expect(asked[0]?.signal?.aborted).toBe(true);
});

test('after a reload, what was pending is asked for again', async () => {
  const before = openTab();
  await watch(before.rewards, 'dec_1');
  before.rewards.destroy();
  const clock = manualClock();
  const { rewards, answers } = openTab(clock, undefined, apartFromDatabase(clock));
  answers.push({ kind: 'ok', body: earned('dec_1') });
  const handed = new Promise<EarnedReward>((resolve) => rewards.onReward(resolve));
  await eventually(() => expect(rewards.diagnostics().pending).toBe(1));
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_500);
  expect(await handed).toMatchObject({ decisionId: 'dec_1' });
});

test('offline, the device tells what it knows', async () => {
  const { rewards } = openTab();
  await watch(rewards, 'dec_1');
  expect(await rewards.status('dec_1')).toMatchObject({ state: 'pending' });
  expect(await rewards.status('dec_unknown')).toEqual({
    decisionId: 'dec_unknown',
    state: 'none',
  });
});

test('works without a database, and says so', async () => {
  const denied = {
    open: () => {
      throw new DOMException('denied', 'SecurityError');
    },
  } as unknown as IDBFactory;
  const { rewards } = openTab(systemClock, denied);
  const handed = new Promise<EarnedReward>((resolve) => rewards.onReward(resolve));
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  expect(await handed).toMatchObject({ decisionId: 'dec_1' });
  expect(rewards.diagnostics().storage).toBe('memory');
});

test('a database that does not answer holds up nothing, and is used again when it does', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock);
  await watch(rewards, 'dec_1');
  const letGo = await occupy(name);
  const listed = rewards.list();
  let watched = false;
  void watch(rewards, 'dec_2').then(() => (watched = true));
  await eventually(async () => {
    await clock.advance(5_000);
    expect(watched).toBe(true);
  });
  expect(await listed).toMatchObject([{ decisionId: 'dec_1' }]);
  expect(rewards.diagnostics().storage).toBe('memory');
  letGo();
  await eventually(async () => {
    expect(await rewards.list()).toHaveLength(2);
    expect(rewards.diagnostics().storage).toBe('indexeddb');
  });
});

test('a ledger of more rewards than are read at once is read to its end', async () => {
  const before = openTab();
  const ids = Array.from({ length: 401 }, (_, index) => `dec_${index}`);
  await Promise.all(ids.map((id) => watch(before.rewards, id)));
  before.rewards.destroy();
  const { rewards } = openTab();
  const found = await rewards.list();
  expect(new Set(found.map(({ decisionId }) => decisionId))).toEqual(new Set(ids));
});

test('a decision without a reward leaves no trace', async () => {
  const { rewards } = openTab();
  const { reward: _, ...interstitial } = decision('dec_1');
  await rewards.track(interstitial);
  await rewards.watched('dec_1');
  expect(await rewards.list()).toEqual([]);
  expect(rewards.diagnostics().storage).toBe('indexeddb');
});

test('destroy settles who waits and leaves no timer', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock);
  await watch(rewards, 'dec_1');
  const waiting = rewards.confirmation('dec_1', 60_000);
  rewards.destroy();
  expect(await waiting).toMatchObject({ state: 'pending' });
  expect(clock.timers()).toBe(0);
});

test('destroy leaves no timer behind while a handler is at work', async () => {
  const clock = manualClock();
  const { rewards } = openTab(clock);
  const saving = deferred();
  const handler = vi.fn(() => saving.promise);
  rewards.onReward(handler);
  await watch(rewards, 'dec_1');
  await rewards.settle([earned('dec_1')]);
  await eventually(() => expect(handler).toHaveBeenCalled());
  rewards.destroy();
  expect(clock.timers()).toBe(0);
  saving.resolve();
});
