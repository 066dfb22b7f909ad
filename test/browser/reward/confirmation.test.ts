import { expect, test, vi } from 'vitest';
import type { RewardStatus } from '../../../protocol/wire.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import type { Rewards } from '../../../src/reward/rewards.ts';
import type { ServiceResult } from '../../../src/transport/service-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { withoutDatabaseTimeouts, earnedStatus, openTab, watch } from './open-tab.ts';

test('confirmation() resolves when the reward is final or after a timeout', async () => {
  const clock = createManualClock();
  const { rewards } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  await watch(rewards, 'dec_1');
  const lateConfirmation = rewards.confirmation('dec_1', 1_000);
  await clock.advance(1_000);
  expect(await lateConfirmation).toMatchObject({ state: 'pending' });
  const nextConfirmation = rewards.confirmation('dec_1', 1_000);
  await rewards.settle([{ id: 'dec_1', state: 'denied', reason: 'watched_too_little' }]);
  expect(await nextConfirmation).toMatchObject({ state: 'denied', reason: 'watched_too_little' });
  expect(await rewards.confirmation('dec_1', 1_000)).toEqual(await nextConfirmation);
  expect(clock.timers()).toBe(0);
});

test('long-polls the service with back-off until no reward is pending', async () => {
  const clock = createManualClock();
  const { rewards, requests, responses } = openTab(
    clock,
    undefined,
    withoutDatabaseTimeouts(clock),
  );
  responses.push({ kind: 'ok', body: { id: 'dec_1', state: 'pending' } });
  responses.push({ kind: 'retry', status: 503, retryAfterMs: 10_000 });
  responses.push({ kind: 'ok', body: earnedStatus('dec_1') });
  await watch(rewards, 'dec_1');
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_500);
  await eventually(() => expect(clock.timers()).toBe(1));
  expect(requests).toMatchObject([{ id: 'dec_1', waitS: 25 }]);
  await clock.advance(1_000);
  await eventually(() => expect(clock.timers()).toBe(1));
  expect(requests).toHaveLength(2);
  await clock.advance(11_999);
  expect(requests).toHaveLength(2);
  await clock.advance(1);
  await eventually(() =>
    expect(rewards.diagnostics()).toMatchObject({ pending: 0, undelivered: 1 }),
  );
  expect(requests).toHaveLength(3);
  expect(clock.timers()).toBe(0);
});

test('an overloaded service is left alone although it answers for another reward', async () => {
  const clock = createManualClock();
  const { rewards, requests, responses } = openTab(
    clock,
    undefined,
    withoutDatabaseTimeouts(clock),
  );
  responses.push({ kind: 'retry', status: 503, retryAfterMs: 10_000 });
  responses.push({ kind: 'ok', body: { id: 'dec_2', state: 'pending' } });
  await watch(rewards, 'dec_1');
  await watch(rewards, 'dec_2');
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_500);
  await eventually(() => expect(clock.timers()).toBe(1));
  expect(requests).toHaveLength(2);
  await clock.advance(9_999);
  expect(requests).toHaveLength(2);
});

test('a page that stays open delivers a reward that is earned hours later', async () => {
  const clock = createManualClock();
  const { rewards, responses } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  const delivered: EarnedReward[] = [];
  rewards.onReward((reward) => void delivered.push(reward));
  await watch(rewards, 'dec_1');
  for (let hour = 0; hour < 5; hour++) {
    responses.push({ kind: 'ok', body: { id: 'dec_1', state: 'pending' } });
    await clock.advance(3_600_000);
    await eventually(() => expect(clock.timers()).toBe(1));
  }
  expect(delivered).toEqual([]);
  expect(rewards.diagnostics().pending).toBe(1);
  responses.unshift({ kind: 'ok', body: earnedStatus('dec_1') });
  await clock.advance(3_600_000);
  await eventually(() => expect(delivered).toMatchObject([{ decisionId: 'dec_1' }]));
});

test('a long poll ends when the status arrives through another channel', async () => {
  const clock = createManualClock();
  const { rewards, requests, responses } = openTab(
    clock,
    undefined,
    withoutDatabaseTimeouts(clock),
  );
  responses.push(new Promise(() => undefined));
  await watch(rewards, 'dec_1');
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_500);
  await rewards.settle([earnedStatus('dec_1')]);
  expect(requests[0]?.signal?.aborted).toBe(true);
});

test('pending rewards are polled again after a reload', async () => {
  const oldTab = openTab();
  await watch(oldTab.rewards, 'dec_1');
  oldTab.rewards.destroy();
  const clock = createManualClock();
  const { rewards, responses } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  responses.push({ kind: 'ok', body: earnedStatus('dec_1') });
  const deliveredReward = new Promise<EarnedReward>((resolve) => rewards.onReward(resolve));
  await eventually(() => expect(rewards.diagnostics().pending).toBe(1));
  await eventually(() => expect(clock.timers()).toBe(1));
  await clock.advance(1_500);
  expect(await deliveredReward).toMatchObject({ decisionId: 'dec_1' });
});

test('after destroy(), nothing is requested, delivered or identified', async () => {
  const clock = createManualClock();
  const { rewards, requests, network, page, identifyCalls } = openTab(
    clock,
    undefined,
    withoutDatabaseTimeouts(clock),
  );
  const handler = vi.fn();
  rewards.onReward(handler);
  await watch(rewards, 'dec_1');
  const reading = rewards.refresh();
  rewards.destroy();
  await reading;
  const identified = identifyCalls();
  await rewards.settle([earnedStatus('dec_1')]);
  rewards.onReward(handler);
  await watch(rewards, 'dec_2');
  network.reconnect();
  page.emit('visible');
  expect(await rewards.status('dec_2')).toMatchObject({ state: 'pending' });
  await clock.advance(60_000);
  expect([requests.length, handler.mock.calls.length, clock.timers()]).toEqual([0, 0, 0]);
  expect(identifyCalls()).toBe(identified);
});

test.each([
  [
    'while waiting for its confirmation',
    (rewards: Rewards) => rewards.confirmation('dec_1', 10_000),
  ],
  ['when its status is requested', (rewards: Rewards) => rewards.status('dec_1')],
])('a pending reward expires %s if the service has deleted it', async (_, requestReward) => {
  const clock = createManualClock();
  const { rewards, responses } = openTab(clock, undefined, withoutDatabaseTimeouts(clock));
  await watch(rewards, 'dec_1');
  await eventually(() => expect(clock.timers()).toBe(1));
  responses.push({ kind: 'refused', problem: { code: 'decision_gone' } });
  const report = requestReward(rewards);
  await clock.advance(1_500);
  expect(await report).toMatchObject({ state: 'expired', reason: 'unknown_to_service' });
  expect(await rewards.list()).toEqual([]);
  expect(clock.timers()).toBe(0);
});

test.each<[ServiceResult<RewardStatus>, isPolledAgain: boolean]>([
  [{ kind: 'refused', problem: { code: 'not_found' } }, false],
  [{ kind: 'refused', problem: { code: 'key_revoked' } }, false],
  [{ kind: 'refused', problem: { code: 'token_invalid' } }, false],
  [{ kind: 'unreachable', cause: 'unexpected_response' }, true],
  [{ kind: 'retry', status: 503 }, true],
])(
  'after $kind, a reward stays pending even a year later; polled again: %s',
  async (response, isPolledAgain) => {
    const clock = createManualClock();
    const { rewards, responses, requests } = openTab(
      clock,
      undefined,
      withoutDatabaseTimeouts(clock),
    );
    await watch(rewards, 'dec_1');
    await eventually(() => expect(clock.timers()).toBe(1));
    clock.setWallTime(clock.now() + 400 * 86_400_000);
    responses.push(response);
    await clock.advance(1_500);
    await eventually(() => expect(requests).toHaveLength(1));
    expect(await rewards.list()).toMatchObject([{ decisionId: 'dec_1', state: 'pending' }]);
    await eventually(() => expect(clock.timers()).toBe(isPolledAgain ? 1 : 0));
    await clock.advance(60_000);
    expect(requests.length > 1).toBe(isPolledAgain);
  },
);
