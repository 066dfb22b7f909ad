import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGame, type FilledDecision, type Game } from './reward-game.ts';

/** The players in these tests are honest. None of them may be denied a reward. */
let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

/** Returns a watched ad's events, each with its time in milliseconds since the ad started. */
function createWatchEvents(decision: FilledDecision): [number, AdEvent][] {
  const requiredMs = decision.min_watch_ms ?? 0;
  const createTimedEvent = (
    type: AdEvent['type'],
    fraction: number,
    overrides: Partial<AdEvent> = {},
  ) => [requiredMs * fraction, game.createEvent(decision, type, overrides)] as [number, AdEvent];
  return [
    createTimedEvent('start', 0),
    createTimedEvent('first_quartile', 0.25),
    createTimedEvent('impression', 0.45, { visible: { ratio: 1, ms: 2_000 } }),
    createTimedEvent('midpoint', 0.5),
    createTimedEvent('third_quartile', 0.75),
    createTimedEvent('complete', 1, { watched_ms: requiredMs }),
  ];
}

/** Watches an ad and sends each event immediately. `getFlightMs` returns how long each request stays in flight. */
async function play(
  userRef: string,
  format: 'image' | 'video',
  getFlightMs: (type: AdEvent['type']) => number,
) {
  const decision = await game.decide(userRef, { formats: [format] });
  const startedAtMs = game.clock.nowMs() + 100;
  const requests = createWatchEvents(decision).map(([afterMs, event]) => {
    const occurredAtMs = startedAtMs + afterMs;
    const occurredAt = new Date(occurredAtMs).toISOString();
    const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
    return { arrivesAtMs: occurredAtMs + getFlightMs(event.type), body };
  });
  for (const { arrivesAtMs, body } of requests.toSorted((a, b) => a.arrivesAtMs - b.arrivesAtMs)) {
    game.clock.set(Math.max(game.clock.nowMs(), arrivesAtMs));
    const { status } = await game.client.call('POST', '/v1/events', game.client.publishable, body);
    expect(status).toBe(200);
  }
  return game.readRewardStatus(decision.id);
}

describe('a watched ad', () => {
  test.each([1_500, 2_500, 4_000, 6_000, 60_000])(
    'is rewarded if its start event was in flight for %d ms',
    async (startFlightMs) => {
      const getFlightMs = (type: AdEvent['type']) => (type === 'start' ? startFlightMs : 50);
      expect(await play('slow', 'image', getFlightMs)).toMatchObject({ state: 'earned' });
      expect(await play('slow', 'video', getFlightMs)).toMatchObject({ state: 'earned' });
    },
  );

  test('is rewarded if its events arrive out of order', async () => {
    const order = [
      'complete',
      'third_quartile',
      'impression',
      'midpoint',
      'first_quartile',
      'start',
    ];
    const getFlightMs = (type: AdEvent['type']) => 8_000 + order.indexOf(type) * 7_000;
    expect(await play('overtaken', 'image', getFlightMs)).toMatchObject({ state: 'earned' });
  });

  test('is rewarded if its events arrive while the next ad plays', async () => {
    const [firstAd, secondAd] = [await game.decide('quick'), await game.decide('quick')];
    const startedAtMs = game.clock.nowMs() + 100;
    const requests = [firstAd, secondAd].flatMap((decision, index) =>
      createWatchEvents(decision).map(([afterMs, event]) => {
        const occurredAtMs = startedAtMs + index * 5_500 + afterMs;
        const occurredAt = new Date(occurredAtMs).toISOString();
        const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
        return { arrivesAtMs: occurredAtMs + (index === 0 ? 8_000 : 50), body };
      }),
    );
    for (const { arrivesAtMs, body } of requests.toSorted(
      (a, b) => a.arrivesAtMs - b.arrivesAtMs,
    )) {
      game.clock.set(Math.max(game.clock.nowMs(), arrivesAtMs));
      await game.client.call('POST', '/v1/events', game.client.publishable, body);
    }
    expect(await game.readRewardStatus(firstAd.id)).toMatchObject({ state: 'earned' });
    expect(await game.readRewardStatus(secondAd.id)).toMatchObject({ state: 'earned' });
  });

  test('is rewarded if the device sleeps with events in flight', async () => {
    const hourMs = 3_600_000;
    expect(await play('sleeper', 'image', () => 2 * hourMs)).toMatchObject({ state: 'earned' });
  });

  test('is rewarded if the device clock is set back during playback', async () => {
    const decision = await game.decide('set-back');
    const startedAtMs = game.clock.nowMs();
    for (const [afterMs, event] of createWatchEvents(decision)) {
      game.clock.set(startedAtMs + afterMs);
      const occurredAt = new Date(
        startedAtMs + afterMs - (afterMs > 2_000 ? 5_000 : 0),
      ).toISOString();
      const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
      await game.client.call('POST', '/v1/events', game.client.publishable, body);
    }
    expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'earned' });
  });
});
