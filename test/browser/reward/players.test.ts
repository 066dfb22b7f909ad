import { promisifyRequest } from 'idb-keyval';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EarnedReward } from '../../../src/outcome.ts';
import type { RewardHandler } from '../../../src/reward/delivery.ts';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import {
  decision,
  withoutDatabaseTimeouts,
  earn,
  earnedStatus,
  openLedgerStore,
  openTab,
  openTabWithLedger,
  watch,
} from './open-tab.ts';
import { alone } from '../neighbor.ts';

/** Opens a tab for this player, and collects the rewards that its game receives. */
function openTabFor(playerRef: string | null) {
  const tab = openTab(undefined, undefined, undefined, playerRef);
  const received: EarnedReward[] = [];
  tab.rewards.onReward((reward) => void received.push(reward));
  return { ...tab, received, ids: () => received.map(({ decisionId }) => decisionId) };
}

test('a reward is not delivered to another player on the same device', async () => {
  const ann = openTab(undefined, undefined, undefined, 'ann');
  await earn(ann.rewards, 'dec_1', 'ann');
  await watch(ann.rewards, 'dec_2', 'ann');
  ann.rewards.destroy();

  const bob = openTabFor('bob');
  expect(await bob.rewards.list()).toEqual([]);
  expect(await bob.rewards.status('dec_1')).toEqual({ decisionId: 'dec_1', state: 'none' });
  expect(bob.rewards.diagnostics()).toMatchObject({ pending: 0, undelivered: 0 });
  // The service's status is stored for the player who earned the reward.
  await bob.rewards.settle([earnedStatus('dec_2')]);
  await earn(bob.rewards, 'dec_3', 'bob');
  await eventually(() => expect(bob.ids()).toEqual(['dec_3']));
  expect(bob.requests).toEqual([]);
  bob.rewards.destroy();

  const returned = openTabFor('ann');
  await eventually(() => expect(returned.ids()).toEqual(['dec_1', 'dec_2']));
  expect(returned.received).toMatchObject([{ userRef: 'ann' }, { userRef: 'ann' }]);
});

test('another player’s pending rewards are not polled', async () => {
  const oldTab = openTab(undefined, undefined, undefined, 'ann');
  await watch(oldTab.rewards, 'dec_1', 'ann');
  oldTab.rewards.destroy();
  const clock = createManualClock();
  const { requests, rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock), 'bob');
  await rewards.list();
  await clock.advance(3_600_000);
  expect(requests).toEqual([]);
  expect(clock.timers()).toBe(0);
});

test('a reward that an older release stored without a player goes to the current player', async () => {
  const oldTab = openTab();
  await earn(oldTab.rewards, 'dec_1');
  oldTab.rewards.destroy();
  const { store, close } = await openLedgerStore();
  const entry = await promisifyRequest<Record<string, unknown>>(store.get('dec_1'));
  delete entry['earnedBy'];
  delete entry['heldFor'];
  await promisifyRequest(store.put(entry, 'dec_1'));
  close();
  const { received } = openTabFor('bob');
  await eventually(() => expect(received).toMatchObject([{ decisionId: 'dec_1' }]));
  expect(received[0]).not.toHaveProperty('userRef');
});

test('nothing is delivered until the token function has identified the player', async () => {
  const oldTab = openTab();
  await earn(oldTab.rewards, 'dec_1', 'ann');
  oldTab.rewards.destroy();
  const { rewards, received, identify, identifyCalls } = openTabFor(null);
  await eventually(() => expect(identifyCalls()).toBe(1));
  expect(await rewards.list()).toEqual([]);
  expect(received).toEqual([]);
  await identify('ann');
  await eventually(() => expect(received).toMatchObject([{ decisionId: 'dec_1', userRef: 'ann' }]));
});

test('a reward waits for its own player to be identified, whoever plays by then', async () => {
  const { rewards, received, ids, setPlayer } = openTabFor(null);
  const owner: { ref: string | undefined } = { ref: undefined };
  await rewards.track(decision('dec_1'), owner);
  await rewards.setWatched('dec_1');
  await setPlayer('bob');
  await rewards.settle([earnedStatus('dec_1')]);
  expect(await rewards.list()).toEqual([]);
  owner.ref = 'ann';
  await rewards.refresh();
  expect(await rewards.list()).toEqual([]);
  expect(received).toEqual([]);
  await setPlayer('ann');
  await eventually(() => expect(ids()).toEqual(['dec_1']));
  expect(received).toMatchObject([{ userRef: 'ann' }]);
});

test('the token function is not called if there are no rewards', async () => {
  const { rewards, identifyCalls } = openTabWithLedger(
    `${alone}-rewards`,
    undefined,
    undefined,
    undefined,
    null,
  );
  onTestFinished(rewards.destroy);
  await rewards.list();
  await rewards.refresh();
  expect(identifyCalls()).toBe(0);
});

test('a guest’s rewards stay with the guest when a player signs in', async () => {
  const { rewards, received, ids, setPlayer } = openTabFor('guest');
  await watch(rewards, 'dec_1', 'guest');
  await setPlayer('ann');
  await rewards.settle([earnedStatus('dec_1')]);
  expect(await rewards.list()).toEqual([]);
  expect(received).toEqual([]);
  await setPlayer('guest');
  await eventually(() => expect(ids()).toEqual(['dec_1']));
});

test('transferred rewards are delivered to the new player', async () => {
  const earlierTab = openTab(undefined, undefined, undefined, 'guest');
  await earn(earlierTab.rewards, 'dec_1', 'guest');
  earlierTab.rewards.destroy();
  const { rewards, received, ids, setPlayer, stopFrames, frames } = openTabFor('guest');
  stopFrames();
  await watch(rewards, 'dec_2', 'guest');
  await eventually(() => expect(frames).toHaveLength(1));
  await setPlayer('ann', true);
  // The rewards have been transferred, so this frame must not deliver them to the guest.
  frames.splice(0).forEach((frame) => frame());
  await rewards.settle([earnedStatus('dec_2')]);
  await eventually(() => {
    frames.splice(0).forEach((frame) => frame());
    expect(ids()).toEqual(['dec_1', 'dec_2']);
  });
  expect(received).toMatchObject([{ userRef: 'guest' }, { userRef: 'guest' }]);
  await setPlayer('guest');
  expect(await rewards.list()).toEqual([]);
});

test('rewards are transferred as soon as a user token identifies the new player', async () => {
  const { rewards, ids, setPlayer, identify } = openTabFor('guest');
  await watch(rewards, 'dec_1', 'guest');
  await setPlayer(undefined, true);
  await rewards.settle([earnedStatus('dec_1')]);
  expect(ids()).toEqual([]);
  await identify('ann');
  await eventually(() => expect(ids()).toEqual(['dec_1']));
});

test('a reward is not transferred if another tab is delivering it to the guest', async () => {
  const deliveredTo: string[] = [];
  const saving = createDeferred();
  const guest = openTab(undefined, undefined, undefined, 'guest');
  guest.rewards.onReward(async () => {
    deliveredTo.push('guest');
    await saving.promise;
  });
  await earn(guest.rewards, 'dec_1', 'guest');
  await eventually(() => expect(deliveredTo).toEqual(['guest']));
  const otherTab = openTab(undefined, undefined, undefined, 'guest');
  otherTab.rewards.onReward(() => void deliveredTo.push('ann'));
  await otherTab.setPlayer('ann', true);
  expect(await otherTab.rewards.list()).toMatchObject([{ decisionId: 'dec_1' }]);
  saving.resolve();
  await eventually(async () => expect(await otherTab.rewards.list()).toEqual([]));
  expect(deliveredTo).toEqual(['guest']);
});

test('a delivery in progress is completed even if the player changes', async () => {
  const { rewards, setPlayer } = openTab(undefined, undefined, undefined, 'ann');
  const saving = createDeferred();
  const handler = vi.fn<RewardHandler>(() => saving.promise);
  rewards.onReward(handler);
  await earn(rewards, 'dec_1', 'ann');
  await earn(rewards, 'dec_2', 'ann');
  await eventually(() => expect(handler).toHaveBeenCalledOnce());
  await setPlayer('bob');
  saving.resolve();
  await setPlayer('ann');
  await eventually(async () => expect(await rewards.list()).toEqual([]));
  expect(handler.mock.calls.map(([{ decisionId }]) => decisionId)).toEqual(['dec_1', 'dec_2']);
});
