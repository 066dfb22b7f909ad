import type { AdEvent } from '@trueward/protocol/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGame, type FilledDecision, type Game } from './reward-game.ts';

/** The players in these tests are honest. None of them may be denied a reward. */
let game: Game;
beforeAll(async () => {
  game = await startGame();
});
afterAll(() => game.stop());

/** Returns the events of a watched ad, each with its time in milliseconds since the start of the ad. */
function watchEvents(decision: FilledDecision): [number, AdEvent][] {
  const fullMs = decision.min_watch_ms ?? 0;
  const createTimedEvent = (
    type: AdEvent['type'],
    share: number,
    overrides: Partial<AdEvent> = {},
  ) => [fullMs * share, game.createEvent(decision, type, overrides)] as [number, AdEvent];
  return [
    createTimedEvent('start', 0),
    createTimedEvent('first_quartile', 0.25),
    createTimedEvent('impression', 0.45, { visible: { ratio: 1, ms: 2_000 } }),
    createTimedEvent('midpoint', 0.5),
    createTimedEvent('third_quartile', 0.75),
    createTimedEvent('complete', 1, { watched_ms: fullMs }),
  ];
}

/** Watches an ad and sends each event immediately. `getFlightMs` returns how long the request takes. */
async function play(
  userRef: string,
  format: 'image' | 'video',
  getFlightMs: (type: AdEvent['type']) => number,
) {
  const decision = await game.decide(userRef, { formats: [format] });
  const beganMs = game.clock.nowMs() + 100;
  const requests = watchEvents(decision).map(([afterMs, event]) => {
    const occurredMs = beganMs + afterMs;
    const occurredAt = new Date(occurredMs).toISOString();
    const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
    return { arrivesMs: occurredMs + getFlightMs(event.type), body };
  });
  for (const { arrivesMs, body } of requests.toSorted((a, b) => a.arrivesMs - b.arrivesMs)) {
    game.clock.set(Math.max(game.clock.nowMs(), arrivesMs));
    const { status } = await game.client.call('POST', '/v1/events', game.client.publishable, body);
    expect(status).toBe(200);
  }
  return game.readRewardStatus(decision.id);
}

describe('a watched ad', () => {
  test.each([1_500, 2_500, 4_000, 6_000, 60_000])(
    'is rewarded if its start event was in flight for %d ms',
    async (startMs) => {
      const getFlightMs = (type: AdEvent['type']) => (type === 'start' ? startMs : 50);
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
    const [first, second] = [await game.decide('quick'), await game.decide('quick')];
    const beganMs = game.clock.nowMs() + 100;
    const requests = [first, second].flatMap((decision, index) =>
      watchEvents(decision).map(([afterMs, event]) => {
        const occurredMs = beganMs + index * 5_500 + afterMs;
        const occurredAt = new Date(occurredMs).toISOString();
        const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
        return { arrivesMs: occurredMs + (index === 0 ? 8_000 : 50), body };
      }),
    );
    for (const { arrivesMs, body } of requests.toSorted((a, b) => a.arrivesMs - b.arrivesMs)) {
      game.clock.set(Math.max(game.clock.nowMs(), arrivesMs));
      await game.client.call('POST', '/v1/events', game.client.publishable, body);
    }
    expect(await game.readRewardStatus(first.id)).toMatchObject({ state: 'earned' });
    expect(await game.readRewardStatus(second.id)).toMatchObject({ state: 'earned' });
  });

  test('is rewarded if the device sleeps with events in flight', async () => {
    const hourMs = 3_600_000;
    expect(await play('sleeper', 'image', () => 2 * hourMs)).toMatchObject({ state: 'earned' });
  });

  test('is rewarded if the device clock is set back during playback', async () => {
    const decision = await game.decide('set-back');
    const beganMs = game.clock.nowMs();
    for (const [afterMs, event] of watchEvents(decision)) {
      game.clock.set(beganMs + afterMs);
      const occurredAt = new Date(beganMs + afterMs - (afterMs > 2_000 ? 5_000 : 0)).toISOString();
      const body = { sent_at: occurredAt, events: [{ ...event, occurred_at: occurredAt }] };
      await game.client.call('POST', '/v1/events', game.client.publishable, body);
    }
    expect(await game.readRewardStatus(decision.id)).toMatchObject({ state: 'earned' });
  });
});
