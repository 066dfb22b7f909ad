import { setTimeout as sleep } from 'node:timers/promises';
import { type Ad, type Client, forEach, waitUntilWatched } from '../service/ads.ts';
import { nowMs, type Receiver } from '../service/receiver.ts';
import type { Processes, Side } from './side.ts';

/** The cost of the ads in one round. */
export interface Window {
  /** Latency of each decision. */
  decisionMs: number[];
  /**
   * For each ad, the duration of its four requests plus the time between the last response and the webhook's arrival.
   */
  adMs: number[];
  /** CPU per decision. */
  decisionUs: CpuUse;
  /** CPU per ad, excluding the time during which the player watches the ad. */
  adUs: CpuUse;
}

export interface CpuUse {
  service: number;
  database: number;
}

/** Plays `count` ads to the end, and waits until the receiver has a webhook event for each ad. */
export async function playAds(
  side: Side,
  { clients, read }: Processes,
  receiver: Receiver,
  { count, atOnce }: { count: number; atOnce: number },
): Promise<Window> {
  const stepUsage: CpuUse[] = [];
  const adMsById = new Map<string, number>();
  const selectClient = (index: number): Client => clients[index % clients.length] as Client;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    const usageBefore = read();
    const result = await work();
    const usageAfter = read();
    stepUsage.push({
      service: (usageAfter.serviceUs - usageBefore.serviceUs) / count,
      database: (usageAfter.databaseUs - usageBefore.databaseUs) / count,
    });
    return result;
  };
  const measureTime = async <T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> => {
    const startedAtMs = nowMs();
    return { result: await work(), ms: nowMs() - startedAtMs };
  };
  const indexes = Array.from({ length: count }, (_, index) => index);
  const decisions = await step(() =>
    forEach(indexes, atOnce, (index) => measureTime(selectClient(index).decide)),
  );
  const ads = decisions.map(({ result, ms }) => {
    adMsById.set(result.id, ms);
    return result;
  });
  const send = (to: 'start' | 'quartiles' | 'finish') =>
    forEach(indexes, atOnce, async (index) => {
      const ad = ads[index] as Ad;
      const { ms } = await measureTime(() => selectClient(index)[to](ad));
      adMsById.set(ad.id, (adMsById.get(ad.id) ?? 0) + ms);
      return [ad.id, nowMs()] as const;
    });
  await step(() => send('start'));
  await waitUntilWatched(ads, 0.75);
  await step(() => send('quartiles'));
  await waitUntilWatched(ads, 1);
  receiver.clear();
  await step(async () => {
    const finishedAtMs = new Map(await send('finish'));
    // The arrivals are keyed by decision, because a delivery may be attempted twice on a busy machine.
    const arrivedAtMs = new Map<string, number>();
    for (let index = 0; arrivedAtMs.size < count; index += 1) {
      await receiver.waitFor(index + 1);
      const { decisionId = '', atMs } = receiver.arrivals[index] ?? { atMs: NaN };
      if (finishedAtMs.has(decisionId) && !arrivedAtMs.has(decisionId))
        arrivedAtMs.set(decisionId, atMs);
    }
    for (const [id, ms] of finishedAtMs)
      adMsById.set(id, (adMsById.get(id) ?? 0) + Math.max(0, (arrivedAtMs.get(id) ?? NaN) - ms));
    await waitForDeliveries(side);
  });
  const [decisionUs = { service: NaN, database: NaN }] = stepUsage;
  const adUs = stepUsage.reduce((a, b) => ({
    service: a.service + b.service,
    database: a.database + b.database,
  }));
  return {
    decisionMs: decisions.map(({ ms }) => ms),
    adMs: [...adMsById.values()],
    decisionUs,
    adUs,
  };
}

/** Resolves when all delivery results are stored. */
async function waitForDeliveries({ admin }: Side): Promise<void> {
  for (;;) {
    // Citus rejects EXISTS at the top level of a statement that reads all shards.
    const [row] = await admin.query<{ pending: number }>(
      `SELECT count(*)::bigint AS pending FROM deliveries WHERE state = 'pending'`,
    );
    if (row?.pending === 0) return;
    await sleep(50);
  }
}
