import type { DecisionRequest } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/server/index.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import { startReceiver } from './receiver.ts';
import { startGame, type Game } from './reward-game.ts';

let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

type Simulate = NonNullable<DecisionRequest['simulate']>;
const requestSimulated = (simulate: Simulate) =>
  game.requestDecision({ user_ref: 'tester', simulate });

test.each<[Simulate, string, string]>([
  ['no_fill', 'no_fill', 'no_candidates'],
  ['blocked', 'blocked', 'policy'],
  ['killed', 'no_fill', 'killed'],
])('the outcome %s can be simulated', async (simulate, status, reason) => {
  expect((await requestSimulated(simulate)).body).toMatchObject({ status, reason });
});

test('an error and a slow response can be simulated', async () => {
  expect((await requestSimulated('error')).body).toMatchObject({ code: 'simulated_error' });
  expect((await requestSimulated('slow')).body).toMatchObject({ status: 'filled' });
});

test('a denied reward can be simulated', async () => {
  const decision = await game.decide('tester', { simulate: 'reward_denied' });
  expect(await game.watch(decision)).toMatchObject({ state: 'denied', reason: 'simulated' });
  expect(await game.countWebhookEvents('decision.rewarded', decision.id)).toBe(0);
});

test('a simulated pending reward expires after the late window', async () => {
  const decision = await game.decide('tester', { simulate: 'reward_pending' });
  expect(await game.watch(decision)).toMatchObject({ state: 'pending', reason: 'simulated' });
  game.advance(80_000_000);
  await expireRewards(game.service.database, game.clock);
  expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'pending' });
  game.advance(86_400_000);
  await expireRewards(game.service.database, game.clock);
  expect(await game.readRewardStatus(decision.id)).toMatchObject({
    state: 'expired',
    reason: 'simulated',
  });
  expect(await game.readReportCount('rewards_expired', 'simulated')).toBe(1);
});

test('the sandbox sends signed webhooks', async () => {
  const receiver = await startReceiver();
  const { body: webhook } = await game.client.call<{ secret: string }>(
    'POST',
    '/v1/webhooks',
    game.client.secret,
    { url: receiver.url, events: ['decision.rewarded', 'decision.served'] },
  );
  const deniedDecision = await game.decide('denied', { simulate: 'reward_denied' });
  await game.watch(deniedDecision);
  const decision = await game.decide('signed');
  await game.watch(decision);
  await receiver.waitForRequests(3);
  const events = await Promise.all(
    receiver.requests.map(({ body, headers }) =>
      verifyWebhook(body, headers, webhook.secret, { now: game.clock.nowMs }),
    ),
  );
  const listEvents = (id: string) =>
    events
      .filter(({ data }) => 'decision_id' in data && data.decision_id === id)
      .map(({ type, environment }) => `${environment} ${type}`)
      .toSorted();
  expect(listEvents(decision.id)).toEqual(['sandbox decision.rewarded', 'sandbox decision.served']);
  expect(listEvents(deniedDecision.id)).toEqual(['sandbox decision.served']);
  await receiver.close();
});
