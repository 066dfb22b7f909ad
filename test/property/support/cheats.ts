import type { AdEvent } from '../../../protocol/wire.ts';
import type { PlayedSession } from './honest.ts';
import type { Arrival, ServedAd } from './judge.ts';
import type { Random } from './random.ts';

const requiredMs = 5_000;
type Event = Arrival['events'][number];

interface ClaimedEvent {
  receivedAtMs: number;
  sentAtMs?: number;
  occurredAtMs?: number;
}

/** A way to try to earn rewards for several ads without watching all of them. */
type Cheat = (random: Random, ads: readonly ServedAd[], startAtMs: number) => Arrival[];

const visible = { ratio: 1, ms: 2_000 };
const createEvent = (ad: ServedAd, type: AdEvent['type'], occurredAtMs: number): Event => ({
  id: `event-${ad.id}-${type}`,
  adId: ad.id,
  type,
  occurredAtMs,
  ...(type === 'impression' ? { visible } : {}),
  ...(type === 'complete' ? { watched_ms: requiredMs } : {}),
});
const request = (ad: ServedAd, types: readonly AdEvent['type'][], claim: ClaimedEvent): Arrival => {
  const { receivedAtMs, sentAtMs = receivedAtMs, occurredAtMs = sentAtMs } = claim;
  return {
    receivedAtMs,
    sentAtMs,
    events: types.map((type) => createEvent(ad, type, occurredAtMs)),
  };
};

/** Creates a cheat whose page runs faster: its timers and, with `speedUpClock`, also its clock. */
const speedUpPage =
  (speed: number, speedUpClock: boolean, gapMs: number): Cheat =>
  (_, ads, startAtMs) => {
    let nowMs = startAtMs;
    return ads.flatMap((ad) => {
      const adStartAtMs = (nowMs += gapMs);
      nowMs += requiredMs / speed;
      const at = (share: number, types: readonly AdEvent['type'][]) => {
        const elapsedMs = (requiredMs * share) / speed;
        const sentAtMs = adStartAtMs + (speedUpClock ? elapsedMs * speed : elapsedMs);
        return request(ad, types, { receivedAtMs: adStartAtMs + elapsedMs, sentAtMs });
      };
      return [at(0, ['start']), at(0.5, ['impression', 'midpoint']), at(1, ['complete'])];
    });
  };

const watchInTabs =
  (tabs: number): Cheat =>
  (random, ads, startAtMs) =>
    ads.flatMap((ad, index) => {
      const adStartAtMs =
        startAtMs + Math.floor(index / tabs) * (requiredMs + random.integer(0, 2_000));
      return [
        request(ad, ['start'], { receivedAtMs: adStartAtMs + 100, sentAtMs: adStartAtMs }),
        request(ad, ['impression', 'complete'], {
          receivedAtMs: adStartAtMs + requiredMs + 100,
          sentAtMs: adStartAtMs + requiredMs,
        }),
      ];
    });

/** The cheats by name: scripts, pages with manipulated clocks, and players with many tabs. */
export const cheats: Record<string, Cheat> = {
  'completes immediately': (_, ads, startAtMs) =>
    ads.map((ad) =>
      request(ad, ['start', 'impression', 'complete'], { receivedAtMs: startAtMs + 200 }),
    ),
  'completes all ads after one ad’s duration, without reporting a start': (_, ads, startAtMs) =>
    ads.map((ad) =>
      request(ad, ['impression', 'complete'], { receivedAtMs: startAtMs + requiredMs }),
    ),
  'claims that everything happened long ago': (_, ads, startAtMs) =>
    ads.map((ad) =>
      request(ad, ['start', 'impression', 'complete'], {
        receivedAtMs: startAtMs + 4_000,
        occurredAtMs: startAtMs - 72_000_000,
      }),
    ),
  'claims that its requests were slow': (_, ads, startAtMs) =>
    ads.map((ad, index) => {
      const sentAtMs = startAtMs - 30_000 + index * requiredMs;
      const late = request(ad, ['start', 'impression'], {
        receivedAtMs: startAtMs + 3_000,
        sentAtMs,
      });
      const complete = createEvent(ad, 'complete', sentAtMs + requiredMs);
      return { ...late, events: [...late.events, complete] };
    }),
  'sets its clock ahead': (_, ads, startAtMs) =>
    ads.flatMap((ad, index) => [
      request(ad, ['start'], { receivedAtMs: startAtMs + index * 500 }),
      request(ad, ['impression', 'complete'], {
        receivedAtMs: startAtMs + index * 500 + 300,
        sentAtMs: startAtMs + 3_600_000,
      }),
    ]),
  'sets its clock back': (_, ads, startAtMs) =>
    ads.flatMap((ad, index) => [
      request(ad, ['start'], { receivedAtMs: startAtMs + index * 500 }),
      request(ad, ['impression', 'complete'], {
        receivedAtMs: startAtMs + index * 500 + 300,
        sentAtMs: startAtMs - 3_600_000,
      }),
    ]),
  'runs its page 16 times as fast': speedUpPage(16, true, 100),
  'runs its page 4 times as fast': speedUpPage(4, true, 100),
  'runs its timers 16 times as fast': speedUpPage(16, false, 100),
  'runs its timers 16 times as fast, and pauses': speedUpPage(16, false, 2_000),
  'opens ten tabs': watchInTabs(10),
  'has two devices': watchInTabs(2),
  'claims as much as the service tolerates': (_, ads, startAtMs) =>
    ads.map((ad, index) =>
      request(ad, ['impression', 'complete'], {
        receivedAtMs: startAtMs + requiredMs + index * 3_000,
        occurredAtMs: startAtMs + index * 3_000,
      }),
    ),
  'reports nonsense': (random, ads, startAtMs) =>
    ads.map((ad) => {
      const receivedAtMs = startAtMs + random.integer(0, 60_000);
      const types = ['start', 'impression', 'first_quartile', 'midpoint', 'complete'] as const;
      return {
        receivedAtMs,
        sentAtMs: receivedAtMs + random.integer(-60_000, 60_000),
        events: types.map((type) =>
          createEvent(ad, type, receivedAtMs + random.integer(-60_000, 60_000)),
        ),
      };
    }),
};

/**
 * Simulates a session of a player who uses one kind of cheat. Returns the ads with their decision times, and the
 * requests that the service receives. A decision is made immediately before the cheat starts, or up to several minutes
 * earlier.
 */
export function playCheat(random: Random, name: string, startAtMs: number): PlayedSession {
  const cheat = cheats[name];
  if (!cheat) throw new Error(`There is no cheat named ${name}.`);
  const maxLeadMs = random.pick([0, 0, 2_000, 30_000, 500_000]);
  const ads = Array.from({ length: random.integer(2, 20) }, (_, index): ServedAd => ({
    id: `dec_${index}`,
    issuedAtMs: startAtMs - random.integer(0, maxLeadMs),
    requiredMs,
    mediaFormat: 'image',
  }));
  return { ads, arrivals: cheat(random, ads, startAtMs) };
}
