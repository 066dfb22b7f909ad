import { expect, test } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import { browserPresence } from '../../../src/platform/locks.ts';
import { claimMs } from '../../../src/reward/reward-machine.ts';
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

test('a hidden tab leaves the reward to a visible tab at once', async () => {
  // No time passes, so no claim expires.
  const clock = createManualClock();
  const first = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  first.stopFrames();
  const received: string[] = [];
  first.rewards.onReward(() => void received.push('first'));
  await earn(first.rewards, 'dec_1');
  await eventually(() => expect(first.frames).toHaveLength(1));
  const second = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
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

/** Opens the presence of a page that can end. */
function openFrame() {
  const frame = document.body.appendChild(document.createElement('iframe'));
  const { locks } = (frame.contentWindow as Window).navigator;
  return { presence: browserPresence(() => crypto.randomUUID(), locks), end: () => frame.remove() };
}

test('if a page is reloaded before the game’s next frame, its reward is delivered at once', async () => {
  const page = openFrame();
  const clock = createManualClock();
  const reloaded = openTab(clock, undefined, undefined, undefined, page.presence);
  reloaded.stopFrames();
  reloaded.rewards.onReward(() => undefined);
  await earn(reloaded.rewards, 'dec_1');
  await eventually(() => expect(reloaded.frames).toHaveLength(1));

  const next = openTab(clock, undefined, undefined, undefined, openFrame().presence);
  const received: string[] = [];
  next.rewards.onReward(({ decisionId }) => void received.push(decisionId));
  await next.rewards.list();
  await clock.advance(0);
  expect(received).toEqual([]);
  page.end();
  await eventually(() => {
    // Another attempt, as after a reload.
    next.page.emit('visible');
    expect(received).toEqual(['dec_1']);
  });
  expect(clock.now()).toBe(createManualClock().now());
});

test('a handler that outlasts its destroyed ads is not called again by the next ones', async () => {
  const clock = createManualClock();
  const { presence } = openFrame();
  const first = openTab(clock, undefined, undefined, undefined, presence);
  const calls: string[] = [];
  let finish = (): void => {};
  first.rewards.onReward(() => {
    calls.push('first');
    return new Promise<void>((resolve) => (finish = resolve));
  });
  await earn(first.rewards, 'dec_1');
  await eventually(() => expect(calls).toEqual(['first']));
  first.rewards.destroy();
  const next = openTab(clock, undefined, undefined, undefined, presence);
  next.rewards.onReward(() => void calls.push('next'));
  await next.rewards.list();
  next.page.emit('visible');
  await clock.advance(claimMs / 2);
  finish();
  await eventually(async () => expect(await next.rewards.list()).toEqual([]));
  expect(calls).toEqual(['first']);
});

test.each<[string, LockManager['request']]>([
  ['rejects requests', () => Promise.reject(new Error('refused'))],
  ['never answers', () => new Promise<never>(() => undefined)],
])('a browser that %s has no presence, and nobody is taken for gone', async (_, answer) => {
  const clock = createManualClock();
  const manager = { request: answer, query: answer } as unknown as LockManager;
  const presence = browserPresence(() => 'id', manager, clock);
  const shown = presence.show(Promise.resolve());
  const isGone = presence.isGone('trueward:tab:another');
  await clock.advance(1_000);
  expect([await shown, await isGone]).toEqual([undefined, false]);
});
