import { expect, test } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import { claimMs } from '../../../src/reward/reward-machine.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { decision, earn, earned, openTab, watch } from './open-tab.ts';

test('another tab delivers a reward if its tab died before the confirmation', async () => {
  const { rewards } = openTab();
  const received: EarnedReward[] = [];
  rewards.onReward((reward) => void received.push(reward));
  await rewards.list();
  const dying = openTab();
  await dying.rewards.track(decision('dec_1'));
  dying.rewards.destroy();
  await rewards.settle([earned('dec_1')]);
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
    first.rewards.settle([earned('dec_1')]),
    second.rewards.settle([earned('dec_1')]),
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
  const survivor = openTab(clock);
  let received = 0;
  survivor.rewards.onReward(() => void (received = clock.now()));
  await eventually(async () => {
    await clock.advance(1_000);
    expect(received).toBeGreaterThanOrEqual(claimedAt + claimMs);
  });
});

test('a tab that slept past the end of its claim does not deliver the reward', async () => {
  const clock = createManualClock();
  const asleep = openTab(clock);
  asleep.stopFrames();
  const received: string[] = [];
  asleep.rewards.onReward(() => void received.push('asleep'));
  await earn(asleep.rewards, 'dec_1');
  await eventually(() => expect(asleep.frames).toHaveLength(1));
  clock.sleep(claimMs);
  const awake = openTab(clock);
  awake.rewards.onReward(() => void received.push('awake'));
  await eventually(() => expect(received).toEqual(['awake']));
  asleep.frames.forEach((frame) => frame());
  await eventually(async () => expect(await asleep.rewards.list()).toEqual([]));
  expect(received).toEqual(['awake']);
});
