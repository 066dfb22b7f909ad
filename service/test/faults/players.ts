import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, Decision, EventBatchResult } from '@trueward/protocol/wire';
import { Agent } from 'undici';
import { send } from './send.ts';

/** The ids of everything that the service has acknowledged. */
export interface AcknowledgedIds {
  decisions: Set<string>;
  /** Entries of the form `<decision id>/<event id>`. */
  events: Set<string>;
  /** Decisions with a confirmed reward. */
  rewards: Set<string>;
}

export interface Players {
  acknowledged: AcknowledgedIds;
  /** Returns the number of requests that got a 503 or no response. */
  countRejections(): number;
  /** Responses with a status other than 200 or 503. */
  unexpectedResponses: string[];
  /** Resolves when this many decisions, all made after this call, have earned their reward. */
  waitForRewards(rewardCount: number): Promise<void>;
  /** Lets every player finish their current ad, then resolves. */
  stop(): Promise<void>;
}

interface Options {
  urls: readonly string[];
  key: string;
  count: number;
  /** How long a player retries a request. Default: one minute. */
  retryForMs?: number;
}

/** How long a player watches an ad. The demo account's image ads require 5 s. */
const watchMs = 5_100;

/**
 * Starts simulated players that request and watch ads. They send each request to a random process and retry it until it
 * succeeds.
 */
export function startPlayers({ urls, key, count, retryForMs = 60_000 }: Options): Players {
  const agent = new Agent({ connections: count });
  const acknowledged: AcknowledgedIds = {
    decisions: new Set(),
    events: new Set(),
    rewards: new Set(),
  };
  const unexpectedResponses: string[] = [];
  let rejections = 0;
  let isStopping = false;
  let listeners: (() => void)[] = [];

  const post = async <T>(path: string, body: object): Promise<T> => {
    const text = JSON.stringify(body);
    const deadlineMs = performance.now() + retryForMs;
    for (let attempt = 0; performance.now() < deadlineMs; attempt += 1) {
      const url = urls[Math.floor(Math.random() * urls.length)] ?? '';
      const response = await send(agent, url + path, key, text);
      if (response?.status === 200) return JSON.parse(response.text) as T;
      if (response && response.status !== 503)
        unexpectedResponses.push(`${path}: ${response.status} ${response.text}`);
      rejections += 1;
      await sleep(100 + Math.random() * 200);
    }
    throw new Error(`${path} did not succeed within ${retryForMs} ms.`);
  };
  const report = async (decision: Decision, events: AdEvent[]): Promise<boolean> => {
    const sent_at = new Date().toISOString();
    const { results, decisions } = await post<EventBatchResult>('/v1/events', { sent_at, events });
    for (const { id, status } of results) {
      if (status !== 'rejected') acknowledged.events.add(`${decision.id}/${id}`);
    }
    return decisions.some(({ state }) => state === 'earned');
  };
  const watchAd = async (): Promise<void> => {
    const decision = await post<Decision & { token: string }>('/v1/decisions', {
      placement: 'revive',
      user_ref: randomUUID(),
      formats: ['image'],
    });
    acknowledged.decisions.add(decision.id);
    const createEvent = (type: AdEvent['type'], overrides: Partial<AdEvent> = {}): AdEvent => ({
      id: randomUUID(),
      type,
      decision_id: decision.id,
      token: decision.token,
      occurred_at: new Date().toISOString(),
      ...overrides,
    });
    await report(decision, [createEvent('start')]);
    await sleep(watchMs);
    const impression = createEvent('impression', { visible: { ratio: 1, ms: 1_000 } });
    const complete = createEvent('complete', { watched_ms: 5_000 });
    if (!(await report(decision, [impression, complete]))) return;
    acknowledged.rewards.add(decision.id);
    for (const listener of listeners) listener();
  };
  const runPlayer = async (index: number): Promise<void> => {
    // Stagger the players, so that they are at different points in their ads.
    await sleep((index / count) * watchMs);
    while (!isStopping)
      await watchAd().catch((error: unknown) => unexpectedResponses.push(String(error)));
  };
  const runs = Array.from({ length: count }, (_, index) => runPlayer(index));

  return {
    acknowledged,
    unexpectedResponses,
    countRejections: () => rejections,
    async waitForRewards(rewardCount) {
      const earlierDecisions = new Set(acknowledged.decisions);
      const countNewRewards = () =>
        [...acknowledged.rewards].filter((id) => !earlierDecisions.has(id)).length;
      await new Promise<void>((resolve) => {
        listeners.push(() => {
          if (countNewRewards() >= rewardCount) resolve();
        });
      });
      listeners = [];
    },
    async stop() {
      isStopping = true;
      await Promise.all(runs);
      await agent.destroy();
    },
  };
}
