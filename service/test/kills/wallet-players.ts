import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, Decision, EventBatchResult, Guest, Wallet } from '@trueward/protocol/wire';
import { Agent, request } from 'undici';

/** A guest, and what the service has answered about the guest's wallet. */
interface Guests {
  token: string;
  earned: number;
  spent: number;
  changes: number;
}

/** What is done to the service's processes. */
export interface WalletPlayers {
  /** Returns the number of credits and spends that the service has confirmed. */
  countChanges(): number;
  /** Requests that got no answer, or a 503, and were repeated. */
  countRepeats(): number;
  /** Lets every player finish, and resolves to the differences between the wallets and what was confirmed. */
  finish(): Promise<string[]>;
}

interface Options {
  /** Returns the URLs of the running processes. */
  urls(): readonly string[];
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
const retryForMs = 120_000;

/**
 * Starts players who watch ads and spend what they earn, from two tabs at once and a little more than they have. Each
 * request is repeated, to any of the processes, until it is answered.
 */
export function startWalletPlayers({ urls, key, count }: Options): WalletPlayers {
  const agent = new Agent({ connections: count });
  const guests: Guests[] = [];
  const failures: string[] = [];
  let [isStopping, repeats, changes] = [false, 0, 0];

  const sendOnce = async (
    method: 'GET' | 'POST',
    path: string,
    token?: string,
    body?: object,
  ): Promise<Answer | undefined> => {
    const all = urls();
    try {
      const response = await request(`${all[Math.floor(Math.random() * all.length)]}${path}`, {
        method,
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
    while (performance.now() < deadlineMs) {
      const answer = await sendOnce(...args);
      if (answer && answer.status < 500) return answer;
      repeats += 1;
      await sleep(50 + Math.random() * 150);
    }
    throw new Error(`${args[1]} was not answered within ${retryForMs} ms.`);
  };
  const expectStatus = <T>({ status, body }: { status: number; body: T }, expected: number): T => {
    if (status !== expected) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
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
      await call<EventBatchResult>('POST', '/v1/events', undefined, batch),
      200,
    );
    return decisions.some(({ state }) => state === 'earned');
  };
  const watch = async (guest: Guests): Promise<void> => {
    const body = { placement: 'earn-gems', user_token: guest.token, formats: ['image'] };
    const decision = expectStatus(
      await call<Decision>('POST', '/v1/decisions', undefined, body),
      200,
    );
    if (decision.status !== 'filled') throw new Error(`No ad: ${JSON.stringify(decision)}`);
    await report(decision, [{ type: 'start' }]);
    await sleep(watchMs);
    const isEarned = await report(decision, [
      { type: 'impression', visible: { ratio: 1, ms: 1_000 } },
      { type: 'complete', watched_ms: 5_000 },
    ]);
    if (!isEarned) return;
    guest.earned += gemsPerAd;
    guest.changes += 1;
    changes += 1;
  };
  /** Spends until nothing is left. Each spend is sent once more, while or after it is answered. */
  const spendAll = async (guest: Guests): Promise<void> => {
    for (;;) {
      const body = { id: randomUUID(), type: 'gems', amount: 1 };
      const [{ status }] = await Promise.all([
        call('POST', '/v1/wallet/spends', guest.token, body),
        Math.random() < 0.2 ? sendOnce('POST', '/v1/wallet/spends', guest.token, body) : undefined,
      ]);
      if (status === 409) return;
      if (status !== 201) throw new Error(`A spend got ${status}.`);
      guest.spent += 1;
      guest.changes += 1;
      changes += 1;
    }
  };
  const runGuest = async (): Promise<void> => {
    const { player_token: token } = expectStatus(await call<Guest>('POST', '/v1/players'), 201);
    const guest = { token, earned: 0, spent: 0, changes: 0 };
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
      await runGuest().catch((error: unknown) => void failures.push(String(error)));
  };
  const runs = Array.from({ length: count }, (_, index) => runPlayer(index));

  const compare = async (guest: Guests): Promise<string[]> => {
    const { body } = await call<Wallet>('GET', '/v1/wallet', guest.token);
    const actual = { gems: body.balances['gems'] ?? 0, changes: body.version };
    const expected = { gems: guest.earned - guest.spent, changes: guest.changes };
    const [got, wanted] = [actual, expected].map((value) => JSON.stringify(value));
    return got === wanted ? [] : [`${body.player_ref}: ${got}; expected ${wanted}`];
  };
  return {
    countChanges: () => changes,
    countRepeats: () => repeats,
    async finish() {
      isStopping = true;
      await Promise.all(runs);
      const differences = [...failures];
      for (const guest of guests) differences.push(...(await compare(guest)));
      await agent.destroy();
      return differences;
    },
  };
}
