import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, Decision, EventBatchResult, Guest } from '@trueward/protocol/wire';
import { Agent, request } from 'undici';

/** A guest, and what the service has confirmed of the guest's wallet. */
export interface ConfirmedGuest {
  playerRef: string;
  token: string;
  /** The amounts of credits, and of spends as negative numbers, by their ids. */
  entries: Map<string, number>;
}

/** Players who earn and spend. */
export interface WalletPlayers {
  /** Returns the number of credits and spends that the service has confirmed. */
  countChanges(): number;
  /** Lets every player finish the current ad and spends. */
  finish(): Promise<{
    guests: readonly ConfirmedGuest[];
    /** Requests that got no answer, or a 5xx, and were repeated. */
    repeats: number;
    unexpectedResponses: string[];
  }>;
  /** Ends all players and their requests. */
  abandon(): Promise<void>;
}

interface Options {
  /** The URLs of the running processes. */
  urls: readonly string[];
  key: string;
  count: number;
}

interface Answer {
  status: number;
  body: never;
}

/** How long a player watches an ad. The demo account's image ads require 5 s. */
const watchMs = 5_100;
/** How many gems an ad of the demo account earns. */
const gemsPerAd = 5;
/** A player who has watched so many ads starts again as a new guest. */
const adsPerGuest = 4;
const retryForMs = 240_000;

/**
 * Starts players who watch ads and spend what they earn, from two tabs at once and a little more than they have. Each
 * request is repeated, to any of the processes, until it is answered.
 */
export function startWalletPlayers({ urls, key, count }: Options): WalletPlayers {
  const agent = new Agent({ connections: count });
  const guests: ConfirmedGuest[] = [];
  const unexpectedResponses: string[] = [];
  let [isStopping, isAbandoned, repeats, changes] = [false, false, 0, 0];

  const sendOnce = async (
    path: string,
    token?: string,
    body?: object,
  ): Promise<Answer | undefined> => {
    try {
      const response = await request(`${urls[Math.floor(Math.random() * urls.length)]}${path}`, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(token !== undefined && { 'player-token': token }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      });
      return { status: response.statusCode, body: (await response.body.json()) as never };
    } catch {
      return undefined; // The process was killed.
    }
  };
  const call = async <T>(
    ...args: Parameters<typeof sendOnce>
  ): Promise<{ status: number; body: T }> => {
    const deadlineMs = performance.now() + retryForMs;
    while (performance.now() < deadlineMs && !isAbandoned) {
      const answer = await sendOnce(...args);
      if (answer && answer.status < 500) return answer;
      repeats += 1;
      await sleep(100 + Math.random() * 300);
    }
    throw new Error(`${args[0]} was not answered within ${retryForMs} ms.`);
  };
  const expectStatus = <T>({ status, body }: { status: number; body: T }, expected: number): T => {
    if (status !== expected) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  };
  const confirm = ({ entries }: ConfirmedGuest, id: string, delta: number): void => {
    entries.set(id, delta);
    changes += 1;
  };

  const report = async (decision: Decision, events: Partial<AdEvent>[]): Promise<boolean> => {
    const occurred_at = new Date().toISOString();
    const batch = {
      sent_at: occurred_at,
      events: events.map((event) => ({
        id: randomUUID(),
        decision_id: decision.id,
        token: decision.token,
        occurred_at,
        ...event,
      })),
    };
    const { decisions } = expectStatus(
      await call<EventBatchResult>('/v1/events', undefined, batch),
      200,
    );
    return decisions.some(({ state }) => state === 'earned');
  };
  const watch = async (guest: ConfirmedGuest): Promise<void> => {
    const body = { placement: 'earn-gems', user_token: guest.token, formats: ['image'] };
    const decision = expectStatus(await call<Decision>('/v1/decisions', undefined, body), 200);
    if (decision.status !== 'filled') throw new Error(`No ad: ${JSON.stringify(decision)}`);
    await report(decision, [{ type: 'start' }]);
    await sleep(watchMs);
    const isEarned = await report(decision, [
      { type: 'impression', visible: { ratio: 1, ms: 1_000 } },
      { type: 'complete', watched_ms: 5_000 },
    ]);
    if (isEarned) confirm(guest, decision.id, gemsPerAd);
    else unexpectedResponses.push(`No reward for ${decision.id}`);
  };
  /** Spends until nothing is left. Some spends are sent once more, while they are answered. */
  const spendAll = async (guest: ConfirmedGuest): Promise<void> => {
    for (;;) {
      const body = { id: randomUUID(), type: 'gems', amount: 1 };
      const [{ status }] = await Promise.all([
        call('/v1/wallet/spends', guest.token, body),
        Math.random() < 0.2 ? sendOnce('/v1/wallet/spends', guest.token, body) : undefined,
      ]);
      if (status === 409) return;
      if (status !== 201) throw new Error(`A spend got ${status}.`);
      confirm(guest, body.id, -1);
    }
  };
  const runGuest = async (): Promise<void> => {
    const { player_ref: playerRef, player_token: token } = expectStatus(
      await call<Guest>('/v1/players'),
      201,
    );
    const guest = { playerRef, token, entries: new Map<string, number>() };
    guests.push(guest);
    for (let ads = 0; ads < adsPerGuest && !isStopping; ads += 1) {
      await watch(guest);
      await Promise.all([spendAll(guest), spendAll(guest)]);
    }
    // The last reward stays in the wallet.
    if (!isStopping) await watch(guest);
  };
  const runPlayer = async (index: number): Promise<void> => {
    await sleep((index / count) * watchMs);
    while (!isStopping)
      await runGuest().catch((error: unknown) => void unexpectedResponses.push(String(error)));
  };
  const runs = Promise.all(Array.from({ length: count }, (_, index) => runPlayer(index)));

  return {
    countChanges: () => changes,
    async finish() {
      isStopping = true;
      await runs;
      return { guests, repeats, unexpectedResponses };
    },
    async abandon() {
      [isStopping, isAbandoned] = [true, true];
      await agent.destroy();
      await runs;
    },
  };
}
