import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AdEvent,
  Decision,
  DecisionRequest,
  EventBatchResult,
  Webhook,
} from '../../../protocol/wire.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { openPool } from '../../../service/test/load.ts';

/** A player's ad. */
export interface Ad {
  id: string;
  token: string;
  /** When the player started watching, as returned by `performance.now()`. */
  beganMs: number;
}

/** Sends the requests that an account's players and its server would send. */
export interface Client {
  decide(): Promise<Ad>;
  start(ad: Ad): Promise<void>;
  /**
   * Reports the first quartile, the midpoint and the third quartile in one request. Before the call, wait with
   * {@link waitUntilWatched} until 75% of the ad has been watched.
   */
  quartiles(ad: Ad): Promise<void>;
  /**
   * Reports the impression and the completion in one request. Before the call, wait with {@link waitUntilWatched} until
   * the whole ad has been watched.
   *
   * @throws Error unless the reward is earned.
   */
  finish(ad: Ad): Promise<void>;
  call<T>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<T>;
  addWebhook(url: string, event: Webhook['events'][number]): Promise<Webhook>;
  close(): Promise<void>;
}

/** How long an ad is watched, in milliseconds. The demo account's image ads require at least five seconds. */
export const watchMs = 5_100;
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140 Safari/537.36';
let players = 0;

export function createClient(
  url: string,
  { publishable, secret }: { publishable: string; secret: string },
  connections: number,
): Client {
  const pool = openPool(url, connections);
  const send = async <T>(
    method: 'POST' | 'DELETE',
    path: string,
    key: string,
    body?: object,
  ): Promise<T> => {
    const response = await pool.request({
      path,
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const report = async (
    { id, token }: Ad,
    events: (Pick<AdEvent, 'type'> & Partial<AdEvent>)[],
  ): Promise<EventBatchResult> => {
    const now = new Date().toISOString();
    const response = await send<EventBatchResult>('POST', '/v1/events', publishable, {
      sent_at: now,
      events: events.map((event) => ({
        id: newRandomId(),
        decision_id: id,
        token,
        occurred_at: now,
        ...event,
      })),
    });
    const rejection = response.results.find(({ status }) => status !== 'accepted');
    if (rejection) throw new Error(`An event was rejected: ${JSON.stringify(rejection)}`);
    return response;
  };
  return {
    async decide() {
      const request: DecisionRequest = {
        placement: 'revive',
        user_ref: `player-${(players += 1)}`,
        formats: ['image'],
      };
      const response = await send<Decision>('POST', '/v1/decisions', publishable, request);
      if (response.token === undefined)
        throw new Error(`Expected an ad, got ${JSON.stringify(response)}`);
      return { id: response.id, token: response.token, beganMs: performance.now() };
    },
    async start(ad) {
      await report(ad, [{ type: 'start' }]);
      ad.beganMs = performance.now();
    },
    async quartiles(ad) {
      const types = ['first_quartile', 'midpoint', 'third_quartile'] as const;
      await report(
        ad,
        types.map((type) => ({ type })),
      );
    },
    async finish(ad) {
      const response = await report(ad, [
        { type: 'impression', visible: { ratio: 1, ms: 1_000 }, watched_ms: 1_000 },
        { type: 'complete', watched_ms: 5_000 },
      ]);
      if (response.decisions[0]?.state !== 'earned')
        throw new Error(`Expected a reward, got ${JSON.stringify(response.decisions)}`);
    },
    call: (method, path, body) => send(method, path, secret, body),
    addWebhook: (to, event) => send('POST', '/v1/webhooks', secret, { url: to, events: [event] }),
    close: () => pool.close(),
  };
}

/** Runs `work` for each item with limited concurrency. */
export async function forEach<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++)
      results.push(await work(items[index] as T));
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

/** Resolves when enough time has passed to watch this share of every ad. A share of 1 is the whole ad. */
export async function waitUntilWatched(ads: readonly Ad[], share: number): Promise<void> {
  const lastMs = Math.max(...ads.map(({ beganMs }) => beganMs));
  await sleep(Math.max(0, lastMs + share * watchMs - performance.now()));
}
