import { expect, test } from 'vitest';
import { claimMs } from '../../../src/reward/reward-machine.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  decision,
  earn,
  earnedStatus,
  openTab,
  watch,
  withoutDatabaseTimeouts,
} from './open-tab.ts';

test('retries a handler that throws, with back-off', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  let calls = 0;
  rewards.onReward(() => {
    calls += 1;
    if (calls === 1) throw new Error('the save failed');
  });
  await earn(rewards, 'dec_1');
  await eventually(() => expect(rewards.diagnostics().handlerErrors).toBe(1));
  expect(rewards.diagnostics()).toMatchObject({
    undelivered: 1,
    lastError: 'Error: the save failed',
    storage: 'indexeddb',
  });
  // Wait for the back-off timer. The handler's timeout is cleared a moment later.
  await eventually(() => expect(clock.msToNextTimer()).toBe(1_000));
  await clock.advance(999);
  expect(calls).toBe(1);
  await clock.advance(1);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(calls).toBe(2);
  await eventually(() => expect(clock.timers()).toBe(0));
});

test('a reward that the game doesn’t take counts as waiting after a minute, unless it is in the wallet', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  const reward = { type: 'coins', amount: 1, credit: 'wallet' } as const;
  await rewards.track({ ...decision('dec_2'), reward });
  await rewards.settle([{ ...earnedStatus('dec_2'), reward }]);
  await earn(rewards, 'dec_1');
  await clock.advance(60_000);
  expect(rewards.countWaiting()).toBe(0);
  await clock.advance(1);
  expect(rewards.countWaiting()).toBe(1);
  rewards.onReward(() => undefined);
  await eventually(() => expect(rewards.countWaiting()).toBe(0));
});

test('waits for a handler’s promise before it delivers the next reward', async () => {
  const { rewards } = openTab();
  const log: string[] = [];
  rewards.onReward(async ({ decisionId }) => {
    log.push(`${decisionId} begins`);
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    log.push(`${decisionId} ends`);
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earnedStatus('dec_1'), earnedStatus('dec_2')]);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(log).toEqual(['dec_1 begins', 'dec_1 ends', 'dec_2 begins', 'dec_2 ends']);
});

test('a handler that fails does not delay later rewards', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  const received: string[] = [];
  rewards.onReward(({ decisionId }) => {
    if (decisionId === 'dec_1' && !received.includes('dec_2')) throw new Error('not yet');
    received.push(decisionId);
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earnedStatus('dec_1'), earnedStatus('dec_2')]);
  await eventually(() => expect(received).toEqual(['dec_2']));
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_000);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(received).toEqual(['dec_2', 'dec_1']);
});

test('rewards that fail together are all retried after their own first back-off', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  const ids = Array.from({ length: 10 }, (_, index) => `dec_${index}`);
  const calls: string[] = [];
  rewards.onReward(({ decisionId }) => {
    calls.push(decisionId);
    // One outage of the game's server fails every reward once.
    if (calls.length <= ids.length) throw new Error('HTTP 503');
  });
  for (const id of ids) await watch(rewards, id);
  await rewards.settle(ids.map(earnedStatus));
  await eventually(() => expect(rewards.diagnostics().handlerErrors).toBe(10));
  // Without the handler's timeouts, which end later.
  await eventually(() => expect(clock.timers(1_000)).toBe(10));
  await clock.advance(1_000);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(calls.slice(10).sort()).toEqual(ids);
  await eventually(() => expect(clock.timers()).toBe(0));
});

test('a handler that never settles does not block other rewards after its timeout', async () => {
  const clock = createManualClock();
  const { rewards, page } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  const saved = createDeferred();
  const received: string[] = [];
  rewards.onReward(async ({ decisionId }) => {
    received.push(decisionId);
    if (decisionId === 'dec_1') await saved.promise;
  });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await rewards.settle([earnedStatus('dec_1'), earnedStatus('dec_2')]);
  await eventually(() => expect(received).toEqual(['dec_1']));
  await clock.advance(claimMs);
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(1));
  expect(received).toEqual(['dec_1', 'dec_2']);
  page.emit('visible');
  await rewards.list();
  await clock.advance(3_600_000);
  expect(received).toEqual(['dec_1', 'dec_2']);
  saved.resolve();
  await eventually(() => expect(rewards.diagnostics().undelivered).toBe(0));
  expect(clock.timers()).toBe(0);
});
