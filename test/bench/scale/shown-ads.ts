import { randomUUID } from 'node:crypto';
import type { AdEvent, Decision } from '../../../protocol/wire.ts';
import type { Cluster } from '../../../service/test/faults/cluster.ts';

/** An ad that was decided, long enough ago that it can have been watched. */
export interface ShownAd {
  id: string;
  token: string;
  issuedAtMs: number;
  watchMs: number;
}

const askers = 32;
let players = 0;

/** Decides so many ads, each for another player, and waits until the last of them can have been watched. */
export async function showAds({ urls, keys }: Cluster, count: number): Promise<ShownAd[]> {
  const ads: ShownAd[] = [];
  const ask = async (url: string): Promise<void> => {
    while (ads.length < count) {
      const answer = await fetch(`${url}/v1/decisions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keys.live.publishable}`,
          'content-type': 'application/json',
          'user-agent': 'Mozilla/5.0 Chrome/140',
        },
        body: JSON.stringify({ placement: 'revive', user_ref: `player-${(players += 1)}` }),
      });
      const { id, token = '', issued_at, min_watch_ms = 0 } = (await answer.json()) as Decision;
      ads.push({ id, token, issuedAtMs: Date.parse(issued_at), watchMs: min_watch_ms });
    }
  };
  await Promise.all(Array.from({ length: askers }, (_, i) => ask(urls[i % urls.length] ?? '')));
  const watchedAtMs = Math.max(...ads.map(({ issuedAtMs, watchMs }) => issuedAtMs + watchMs));
  const marginMs = 500;
  await new Promise((resolve) => setTimeout(resolve, watchedAtMs + marginMs - Date.now()));
  return ads;
}

const quarters = ['first_quartile', 'midpoint', 'third_quartile'] as const;

/** What a device tells of an ad that was watched to its end: seven events. */
export function tellOfAd({ id, token, issuedAtMs, watchMs }: ShownAd): AdEvent[] {
  const event = (type: AdEvent['type'], afterMs: number, more: Partial<AdEvent> = {}): AdEvent => ({
    id: randomUUID(),
    type,
    decision_id: id,
    token,
    occurred_at: new Date(issuedAtMs + afterMs).toISOString(),
    ...more,
  });
  return [
    event('start', 50),
    event('impression', 2_100, { visible: { ratio: 1, ms: 2_000 } }),
    ...quarters.map((type, index) => event(type, 50 + ((index + 1) / 4) * watchMs)),
    event('complete', 50 + watchMs, { watched_ms: watchMs }),
    event('close', 300 + watchMs),
  ];
}

const counted = ['first_quartile', 'midpoint', 'third_quartile', 'skip', 'close'] as const;

/** Ten events of an ad that are counted, and by which nothing is judged. */
export function tellMore({ id, token }: ShownAd): AdEvent[] {
  const occurred_at = new Date().toISOString();
  return Array.from({ length: 10 }, (_, index) => ({
    id: randomUUID(),
    type: counted[index % counted.length] ?? 'close',
    decision_id: id,
    token,
    occurred_at,
  }));
}
