import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, EventBatchResult } from '../../../protocol/wire.ts';
import { type Cluster, startCluster } from '../../../service/test/faults/cluster.ts';
import { load } from '../../../service/test/load.ts';
import { type Ad, createClient, forEach, waitUntilWatched } from '../service/ads.ts';
import { createDatabase, type Meter, openMeter } from '../service/meter.ts';
import { type Options, type Part, formatInteger } from './part.ts';

const concurrency = 16;
const decisionConcurrency = 64;
const budget = 20_000;
const eventsPerAd = 7;
/**
 * Number of ads to prepare per second of a window. This is more than the budget requires. If a build is so fast that it
 * runs out of ads, its window ends early.
 */
const adsPerSecond = (1.5 * budget) / eventsPerAd;
/** Number of warm-up windows. The JIT compiler needs a few thousand requests. */
const warmUp = 2;
/** The service accepts at most 500 events and 256 KiB per request. */
const mixes = [
  { processes: 1, adsPerRequest: 14 },
  { processes: 2, adsPerRequest: 14 },
  { processes: 2, adsPerRequest: 50 },
] as const;

/** Measures event ingestion in large requests that each contain all events for several ads, as if sent by a proxy. */
export const events: Part = async (options) => {
  const rows: (string | number)[][] = [];
  let best = 0;
  for (const mix of mixes) {
    const result = await measureMix(options, mix);
    best = Math.max(best, result.perSecond);
    rows.push([
      mix.processes,
      mix.adsPerRequest * eventsPerAd,
      formatInteger(result.perSecond),
      ...[result.serviceUs, result.databaseUs].map((us) => us.toFixed(0)),
    ]);
  }
  return {
    title: 'Event ingestion',
    verdicts: [
      {
        budget: `event ingestion, events stored per second: at least ${formatInteger(budget)}`,
        measured: `${formatInteger(best)}/s`,
        held: best >= budget,
      },
    ],
    head: [
      'processes',
      'events per request',
      'events/s',
      'service CPU per event, µs',
      'PostgreSQL CPU per event, µs',
    ],
    rows,
    note: `${concurrency} concurrent requests, with new events only, each acknowledged after its commit. An ad has seven events: start, impression, three quartiles, complete and close; one verifies an impression, and one earns a reward. There is no webhook.`,
    plot: {
      axis: 'events/s, by processes × events per request',
      rows: rows.map(([processes, size, value]) => ({
        label: `${processes} × ${size}`,
        value: Number(String(value).replaceAll(',', '')),
      })),
    },
  };
};

async function measureMix(
  { postgres, ms }: Options,
  { processes, adsPerRequest }: (typeof mixes)[number],
) {
  const databaseUrl = await createDatabase(postgres);
  const cluster = await startCluster({ databaseUrl, processes });
  const pids = cluster.urls.map((_, index) => cluster.service(index).process.pid ?? 0);
  const meter = await openMeter(pids, postgres, databaseUrl);
  try {
    const adCount = Math.ceil((adsPerSecond * (warmUp + 1) * ms) / 1_000);
    const ads = await decide(cluster, adCount);
    // The warm-up has its own ads. Otherwise, a fast build could use up the ads for the measured window.
    const warmUpAds = ads.splice(0, Math.floor((ads.length * warmUp) / (warmUp + 1)));
    const createBatches = (adsToPlay: Ad[]) => (): AdEvent[] =>
      adsToPlay.splice(0, adsPerRequest).flatMap(createEvents);
    await report(cluster, createBatches(warmUpAds), warmUp * ms);
    // Autovacuum would do this within a minute of the first inserts, but a window is shorter.
    await meter.query('ANALYZE');
    return await measure(cluster, meter, createBatches(ads), ms);
  } finally {
    await meter.close();
    await cluster.stop();
  }
}

/** Requests decisions, and waits long enough for the last of their ads to have been watched. */
async function decide({ urls, keys }: Cluster, count: number): Promise<Ad[]> {
  const clients = urls.map((url) =>
    createClient(url, keys.live, decisionConcurrency / urls.length),
  );
  const allAds = await Promise.all(
    clients.map((client) =>
      forEach(
        Array.from({ length: Math.ceil(count / clients.length) }),
        decisionConcurrency / clients.length,
        client.decide,
      ),
    ),
  );
  await Promise.all(clients.map((client) => client.close()));
  await waitUntilWatched(allAds.flat(), 1);
  const marginMs = 500;
  await sleep(marginMs);
  return allAds.flat();
}

async function measure(cluster: Cluster, meter: Meter, batch: () => AdEvent[], ms: number) {
  let [accepted, seconds] = [0, 0];
  const { serviceUs, databaseUs } = await meter.measure(1, async () => {
    ({ accepted, seconds } = await report(cluster, batch, ms));
  });
  return {
    perSecond: accepted / seconds,
    serviceUs: serviceUs / accepted,
    databaseUs: databaseUs / accepted,
  };
}

const quarters = ['first_quartile', 'midpoint', 'third_quartile'] as const;

/** Creates the events for a five-second image ad that is watched to the end. */
function createEvents({ id, token, beganMs }: Ad): AdEvent[] {
  const watchMs = 5_000;
  const event = (type: AdEvent['type'], afterMs: number, more: Partial<AdEvent> = {}): AdEvent => ({
    id: randomUUID(),
    type,
    decision_id: id,
    token,
    occurred_at: new Date(performance.timeOrigin + beganMs + afterMs).toISOString(),
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

/** Reports events until `ms` have passed or there are no more ads. */
async function report({ urls, keys }: Cluster, batch: () => AdEvent[], ms: number) {
  let [accepted, rejected, seconds] = [0, '', 0];
  const startedAtMs = performance.now();
  const body = (): string | undefined => {
    const batchEvents = batch();
    if (batchEvents.length === 0) return undefined;
    return JSON.stringify({ sent_at: new Date().toISOString(), events: batchEvents });
  };
  const onResponse = (text: string): void => {
    const { results, decisions } = JSON.parse(text) as EventBatchResult;
    for (const { status, code } of results) {
      if (status === 'accepted') accepted += 1;
      else rejected = code ?? status;
    }
    const denied = decisions.find(({ state }) => state !== 'earned');
    if (denied) rejected = JSON.stringify(denied);
    seconds = (performance.now() - startedAtMs) / 1_000;
  };
  await Promise.all(
    urls.map((url) =>
      load(
        {
          url,
          path: '/v1/events',
          key: keys.live.publishable,
          body,
          connections: concurrency / urls.length,
          onResponse,
        },
        ms,
      ),
    ),
  );
  if (rejected !== '') throw new Error(`Events were rejected: ${rejected}.`);
  return { accepted, seconds };
}
