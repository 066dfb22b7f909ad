import { expect, test } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import { claimMs } from '../../../src/reward/reward-machine.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { decision, earn, earnedStatus, openTab, watch } from './open-tab.ts';

test('another tab delivers a reward if the ad’s tab died before the confirmation', async () => {
  const { rewards } = openTab();
  const received: EarnedReward[] = [];
  rewards.onReward((reward) => void received.push(reward));
  await rewards.list();
  const dyingTab = openTab();
  await dyingTab.rewards.track(decision('dec_1'));
  dyingTab.rewards.destroy();
  await rewards.settle([earnedStatus('dec_1')]);
  await eventually(() => expect(received.map(({ decisionId }) => decisionId)).toEqual(['dec_1']));
});

test('two tabs never deliver the same reward', async () => {
  const first = openTab();
  const second = openTab();
  const received: string[] = [];
  await watch(first.rewards, 'dec_1');
  await second.rewards.list();
  const handler = (tab: string) => async () => {
    received.push(tab);
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
  };
  first.rewards.onReward(handler('first'));
  second.rewards.onReward(handler('second'));
  await Promise.all([
    first.rewards.settle([earnedStatus('dec_1')]),
    second.rewards.settle([earnedStatus('dec_1')]),
  ]);
  await eventually(async () => {
    expect(await first.rewards.list()).toEqual([]);
    expect(await second.rewards.list()).toEqual([]);
  });
  expect(received).toHaveLength(1);
});

test('a hidden tab leaves the reward to a visible tab', async () => {
  const first = openTab();
  first.stopFrames();
  const received: string[] = [];
  first.rewards.onReward(() => void received.push('first'));
  await earn(first.rewards, 'dec_1');
  await eventually(() => expect(first.frames).toHaveLength(1));
  const second = openTab();
  second.rewards.onReward(() => void received.push('second'));
  await second.rewards.list();
  first.page.emit('hidden');
  second.page.emit('visible');
  await eventually(() => expect(received).toEqual(['second']));
  first.frames.forEach((frame) => frame());
  first.page.emit('visible');
  await eventually(async () => expect(await first.rewards.list()).toEqual([]));
  expect(received).toEqual(['second']);
});

test('if a tab dies during a delivery, another tab delivers the reward after the claim expires', async () => {
  const clock = createManualClock();
  const dyingTab = openTab(clock);
  await watch(dyingTab.rewards, 'dec_1');
  const called = new Promise<void>((resolve) => {
    dyingTab.rewards.onReward(() => {
      resolve();
      return new Promise(() => undefined);
    });
  });
  await dyingTab.rewards.settle([earnedStatus('dec_1')]);
  await called;
  dyingTab.rewards.destroy();
  const claimedAtMs = clock.now();
  const survivor = openTab(clock);
  let receivedAtMs = 0;
  survivor.rewards.onReward(() => void (receivedAtMs = clock.now()));
  await eventually(async () => {
    await clock.advance(1_000);
    expect(receivedAtMs).toBeGreaterThanOrEqual(claimedAtMs + claimMs);
  });
});

test('a tab that slept until its claim expired does not deliver the reward', async () => {
  const clock = createManualClock();
  const sleepingTab = openTab(clock);
  sleepingTab.stopFrames();
  const received: string[] = [];
  sleepingTab.rewards.onReward(() => void received.push('asleep'));
  await earn(sleepingTab.rewards, 'dec_1');
  await eventually(() => expect(sleepingTab.frames).toHaveLength(1));
  clock.sleep(claimMs);
  const awakeTab = openTab(clock);
  awakeTab.rewards.onReward(() => void received.push('awake'));
  await eventually(() => expect(received).toEqual(['awake']));
  sleepingTab.frames.forEach((frame) => frame());
  await eventually(async () => expect(await sleepingTab.rewards.list()).toEqual([]));
  expect(received).toEqual(['awake']);
});
