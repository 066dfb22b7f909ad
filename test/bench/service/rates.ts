/** `npm run bench:rates` measures the cost and latency of ads at request rates that are typical of most games. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { median, percentile } from '../outbox/statistics.ts';
import { type Ad, forEach, waitUntilWatched, watchMs } from './ads.ts';
import { readCommit, findBuilds, roundOrder } from './builds.ts';
import { publish } from './page.ts';
import { nowMs, type Receiver, startReceiver } from './receiver.ts';
import { readOrigin, type RateRow } from './results.ts';
import { type Side, startSide } from './side.ts';

const values = readOptions({
  name: 'bench:rates',
  about: `Measures whole ads with their webhooks at 10, 100 and 1,000 ads per second. Ads start on schedule, even if responses
are slow. Writes docs/benchmarks/service.
Requires Linux and PostgreSQL. Takes about 8 minutes with --against, or 4 without.`,
  options: {
    against: {
      type: 'text',
      shown: 'checkout',
      help: 'also measures another checkout in alternating rounds; run npm ci and npm run build there first',
    },
    rounds: { type: 'whole', default: 3, help: 'rounds' },
    seconds: { type: 'number', default: 10, help: 'the length of a window' },
    quick: 'a short run, to check that the benchmark works; publishes nothing',
  },
});
const { quick } = values;
const rounds = quick ? 1 : values.rounds;
const windowMs = quick ? 2_000 : values.seconds * 1_000;
const rates = quick ? [10, 100] : [10, 100, 1_000];
/**
 * Ramp-up before the measured window, in milliseconds. After it, the load is in a steady state: ads finish at the same
 * rate as they start.
 */
const rampUpMs = watchMs + 900;
/**
 * Maximum number of requests in flight. At this limit, no new ads are started, so the run falls short of its target
 * rate.
 */
const maxInFlight = 1_000;
/**
 * How long to wait for the last webhooks, in milliseconds. Long enough even for builds that deliver webhooks slowly.
 */
const drainMs = 300_000;
/** A rate counts as reached at 97% of the target, to allow for edge effects at the start and end of the window. */
const reachedShare = 0.97;

interface Window {
  /** Number of webhooks that arrived per second. */
  perSecond: number;
  serviceUs: number;
  databaseUs: number;
  decisionMs: number[];
  webhookMs: number[];
}

async function measure(
  { meter, sandbox }: Side,
  rate: number,
  receiver: Receiver,
): Promise<Window> {
  receiver.clear();
  const decisionMs: number[] = [];
  const finishedAtMs = new Map<string, number>();
  const startedAtMs = nowMs();
  const fromMs = startedAtMs + rampUpMs;
  const toMs = fromMs + windowMs;
  const isInWindow = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  let inFlight = 0;
  const request = async <T>(work: () => Promise<T>): Promise<T> => {
    inFlight += 1;
    try {
      return await work();
    } finally {
      inFlight -= 1;
    }
  };
  const playOne = async (dueAtMs: number): Promise<void> => {
    const ad: Ad = await request(sandbox.decide);
    // To avoid coordinated omission, latency is measured from when the request was due, not from when it was sent.
    if (isInWindow(dueAtMs)) decisionMs.push(nowMs() - dueAtMs);
    await request(() => sandbox.start(ad));
    await waitUntilWatched([ad], 0.75);
    await request(() => sandbox.quartiles(ad));
    await waitUntilWatched([ad], 1);
    finishedAtMs.set(ad.id, nowMs());
    await request(() => sandbox.finish(ad));
  };
  const pendingAds: Promise<void>[] = [];
  const play = async (): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const dueAtMs = startedAtMs + (index * 1_000) / rate;
      if (dueAtMs >= toMs) return;
      if (dueAtMs > nowMs()) await sleep(dueAtMs - nowMs());
      if (inFlight < maxInFlight) pendingAds.push(playOne(dueAtMs));
    }
  };
  const allAdsStarted = play();
  await sleep(fromMs - nowMs());
  const before = await meter.read();
  await sleep(toMs - nowMs());
  const after = await meter.read();
  await allAdsStarted;
  await Promise.all(pendingAds);
  await receiver.waitFor(finishedAtMs.size, drainMs);
  await meter.settle();
  const arrived = receiver.arrivals.filter(({ atMs }) => isInWindow(atMs)).length;
  return {
    perSecond: arrived / (windowMs / 1_000),
    serviceUs: (after.serviceUs - before.serviceUs) / arrived,
    databaseUs: (after.databaseUs - before.databaseUs) / arrived,
    decisionMs,
    webhookMs: receiver.arrivals.flatMap(({ atMs, decisionId = '' }) => {
      const sentAtMs = finishedAtMs.get(decisionId);
      return sentAtMs !== undefined && isInWindow(sentAtMs) ? [atMs - sentAtMs] : [];
    }),
  };
}

function summarize(side: Side['name'], rate: number, windows: readonly Window[]): RateRow {
  const computeMedian = (read: (window: Window) => number): number =>
    median(windows.map(read)) ?? NaN;
  const perSecond = computeMedian((window) => window.perSecond);
  const decisionMs = windows.flatMap((window) => window.decisionMs);
  const webhookMs = windows.flatMap((window) => window.webhookMs);
  return {
    side,
    rate,
    perSecond,
    reached: perSecond >= reachedShare * rate,
    serviceUs: computeMedian((window) => window.serviceUs),
    databaseUs: computeMedian((window) => window.databaseUs),
    decisionMs: [percentile(decisionMs, 0.5) ?? NaN, percentile(decisionMs, 0.99) ?? NaN],
    webhookMs: [percentile(webhookMs, 0.5) ?? NaN, percentile(webhookMs, 0.99) ?? NaN],
  };
}

/**
 * Warms up the JIT compiler. In production, a long-running process has compiled its hot code even if its request rate
 * is low.
 */
async function warmUp({ sandbox, meter }: Side, receiver: Receiver): Promise<void> {
  const ads = await forEach(Array.from({ length: quick ? 50 : 1_000 }), 32, sandbox.decide);
  await forEach(ads, 32, sandbox.start);
  await waitUntilWatched(ads, 0.75);
  await forEach(ads, 32, sandbox.quartiles);
  await waitUntilWatched(ads, 1);
  receiver.clear();
  await forEach(ads, 32, sandbox.finish);
  await receiver.waitFor(ads.length);
  await meter.settle();
}

const measured = readOrigin();
const receiver = await startReceiver();
const sides: Side[] = [];
const rows: RateRow[] = [];
try {
  for (const build of findBuilds(values.against)) {
    const side = await startSide(256, build);
    sides.push(side);
    await side.sandbox.addWebhook(`${receiver.url}/0/ads`, 'decision.rewarded');
    await warmUp(side, receiver);
  }
  for (const rate of rates) {
    const windows = new Map<Side, Window[]>(sides.map((side) => [side, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const side of roundOrder(sides, round)) {
        console.log(`${rate} ads/s, ${side.name}, round ${round + 1} of ${rounds}`);
        windows.get(side)?.push(await measure(side, rate, receiver));
      }
    }
    for (const [side, list] of windows) rows.push(summarize(side.name, rate, list));
  }
} finally {
  for (const side of sides) await side.stop();
  await receiver.stop();
}
console.table(rows);
const older = values.against === undefined ? {} : { older: readCommit(values.against) };
await publish({ rates: { measured, ...older, rows } }, quick);
