import { expect, test, vi } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { decision, earn, earnedStatus, openTab, watch } from './open-tab.ts';

test('delivers an earned reward once, even after a reload', async () => {
  const { rewards } = openTab();
  const received: EarnedReward[] = [];
  rewards.onReward((reward) => void received.push(reward));
  await watch(rewards, 'dec_1');
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1', state: 'pending' }]);
  await rewards.settle([earnedStatus('dec_1')]);
  await rewards.settle([earnedStatus('dec_1')]);
  await eventually(async () => expect(await rewards.list()).toEqual([]));
  const reward = { type: 'coins', amount: 10 };
  expect(received).toEqual([{ decisionId: 'dec_1', placement: 'revive', reward, receipt: 'jws' }]);
  rewards.destroy();
  const next = openTab().rewards;
  next.onReward((again) => void received.push(again));
  expect(await next.status('dec_1')).toMatchObject({ state: 'earned', receipt: 'jws' });
  expect(await next.list()).toEqual([]);
  expect(received).toHaveLength(1);
});

test('showing the ad from a decision again does not earn a second reward', async () => {
  const { rewards } = openTab();
  const received: string[] = [];
  rewards.onReward(({ decisionId }) => void received.push(decisionId));
  for (let showCount = 1; showCount <= 2; showCount += 1) {
    await watch(rewards, 'dec_1');
    await rewards.settle([earnedStatus('dec_1')]);
    await eventually(async () => expect(await rewards.list()).toEqual([]));
  }
  expect(await rewards.confirmation('dec_1', 0)).toMatchObject({ state: 'earned' });
  expect(received).toEqual(['dec_1']);
});

test('a reward that was earned while no handler was registered is delivered after a reload', async () => {
  const { rewards } = openTab();
  await earn(rewards, 'dec_1');
  rewards.destroy();
  const deliveredReward = new Promise<EarnedReward>((resolve) =>
    openTab().rewards.onReward(resolve),
  );
  expect(await deliveredReward).toMatchObject({ decisionId: 'dec_1' });
});

test('a reward counts as delivered if its handler finishes after the SDK is destroyed', async () => {
  const { rewards } = openTab();
  const saving = createDeferred();
  const first = vi.fn(() => saving.promise);
  rewards.onReward(first);
  await earn(rewards, 'dec_1');
  await eventually(() => expect(first).toHaveBeenCalled());
  rewards.destroy();
  saving.resolve();
  await eventually(async () => expect(await openTab().rewards.list()).toEqual([]));
});

test('when the SDK is destroyed, the next instance delivers a reward that was waiting for a frame', async () => {
  const { rewards, frames, stopFrames } = openTab();
  stopFrames();
  rewards.onReward(() => undefined);
  await earn(rewards, 'dec_1');
  await eventually(() => expect(frames).toHaveLength(1));
  rewards.destroy();
  const second = vi.fn();
  openTab().rewards.onReward(second);
  await eventually(() => expect(second).toHaveBeenCalled());
});

test('a reward remains undelivered until a handler is registered', async () => {
  const { rewards, frames, stopFrames } = openTab();
  stopFrames();
  const off = rewards.onReward(() => undefined);
  await earn(rewards, 'dec_1');
  await eventually(() => expect(frames).toHaveLength(1));
  off();
  frames.forEach((frame) => frame());
  expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1' }]);
});

test('while offline, the status is read from the ledger', async () => {
  const { rewards } = openTab();
  await watch(rewards, 'dec_1');
  expect(await rewards.status('dec_1')).toMatchObject({ state: 'pending' });
  expect(await rewards.status('dec_unknown')).toEqual({
    decisionId: 'dec_unknown',
    state: 'none',
  });
});

test('a decision without a reward is not stored', async () => {
  const { rewards } = openTab();
  const { reward: _, ...interstitial } = decision('dec_1');
  await rewards.track(interstitial);
  await rewards.setWatched('dec_1');
  expect(await rewards.list()).toEqual([]);
  expect(rewards.diagnostics().storage).toBe('indexeddb');
});
