import type { AdEvent, EventBatchResult } from '../../../protocol/wire.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { startCluster, type Cluster } from '../../../service/test/faults/cluster.ts';
import { load } from '../../../service/test/load.ts';
import { childrenOf } from '../../../service/test/private-postgres.ts';
import { processorTimeUs } from '../service/processor-time.ts';
import { makeDatabase } from './bench-database.ts';
import { measureInserts } from './insert-limit.ts';
import type { Options, Part } from './part.ts';
import { showAds, type ShownAd, tellMore, tellOfAd } from './shown-ads.ts';

const atOnce = 16;
const wantedPerSecond = 20_000;
/** More than a window needs, also above the wanted rate. */
const adsPerSecond = (1.3 * wantedPerSecond) / 7;
/** In windows. The compiler takes some thousand requests to be done: until then it has a sixth of the processor. */
const warmUp = 2;

/** What the requests tell, and of how many ads each. */
const mixes = {
  'whole ads': { tell: tellOfAd, adsPerRequest: 14 },
  'counted only': { tell: tellMore, adsPerRequest: 10 },
} as const;
type Mix = keyof typeof mixes;

/** Events in batches with 1, 2 and 4 processes, beside what PostgreSQL stores at most. */
export const events: Part = async (options) => {
  const { postgres, ms } = options;
  const limit = await measureInserts(await makeDatabase(postgres), ms);
  const rows: (string | number)[][] = [];
  const best = { 'whole ads': 0, 'counted only': 0 };
  for (const processes of [1, 2, 4]) {
    const databaseUrl = await makeDatabase(postgres);
    const cluster = await startCluster({ databaseUrl, processes });
    try {
      for (const mix of ['whole ads', 'counted only'] as const) {
        const found = await measure(cluster, databaseUrl, options, mix);
        best[mix] = Math.max(best[mix], found.perSecond);
        rows.push([
          mix,
          processes,
          found.perSecond.toFixed(0),
          (found.perSecond / limit).toFixed(2),
          ...found.cpuUs.map((us) => us.toFixed(0)),
        ]);
      }
    } finally {
      await cluster.stop();
    }
  }
  rows.push(['PostgreSQL alone', '', limit.toFixed(0), '1.00', '', '', '']);
  return {
    verdicts: Object.entries(best).map(([mix, perSecond]) => ({
      budget: `events in batches, ${mix}: ${wantedPerSecond} rows/s, or 0.7 × what PostgreSQL inserts`,
      measured: `${perSecond.toFixed(0)} rows/s, ${(perSecond / limit).toFixed(2)} ×`,
      held: perSecond >= wantedPerSecond || perSecond >= 0.7 * limit,
    })),
    head: [
      'told',
      'processes',
      'events/s',
      'of PostgreSQL alone',
      'µs of the service',
      'µs of PostgreSQL',
      'µs of the load',
    ],
    rows,
    note: `98 or 100 events in a request, ${atOnce} requests at a time, each event new and answered after its commit; µs are processor time per event. A whole ad is start, impression, three quartiles, complete and close: of seven events one verifies an impression and one earns a reward, whose receipt is signed. “Counted only” are quartiles, skips and closes of ads that were told of before. PostgreSQL alone inserts rows into the same table, 1,000 at a time over four connections, without a look at anything. Load, service and PostgreSQL share the machine.`,
    plot: {
      title: 'Events per second',
      axis: 'events/s',
      rows: rows.map(([mix, processes, value]) => ({
        label: processes === '' ? String(mix) : `${mix}, ${processes} processes`,
        value: Number(value),
      })),
    },
  };
};

async function measure(cluster: Cluster, databaseUrl: string, { postgres, ms }: Options, mix: Mix) {
  const { adsPerRequest, tell } = mixes[mix];
  const ads = await showAds(cluster, Math.ceil((adsPerSecond * (warmUp + 1) * ms) / 1_000));
  let next = 0;
  const batch = (): AdEvent[] => {
    const some: ShownAd[] = [];
    for (let index = 0; index < adsPerRequest; index += 1) {
      const ad = ads[mix === 'whole ads' ? next : next % ads.length];
      next += 1;
      if (ad) some.push(ad);
    }
    return some.flatMap(tell);
  };
  const spent = () => [
    cluster.urls.reduce(
      (sum, _, i) => sum + processorTimeUs(cluster.service(i).process.pid ?? 0),
      0,
    ),
    childrenOf(postgres.pid()).reduce((sum, pid) => sum + processorTimeUs(pid), 0),
    processorTimeUs(process.pid),
  ];
  await report(cluster, batch, warmUp * ms);
  await analyze(databaseUrl);
  const before = spent();
  const { accepted, seconds } = await report(cluster, batch, ms);
  const after = spent();
  return {
    perSecond: accepted / seconds,
    cpuUs: after.map((value, index) => (value - (before[index] ?? 0)) / accepted),
  };
}

/** What PostgreSQL does by itself within a minute of the first rows, which is longer than a window. */
async function analyze(databaseUrl: string): Promise<void> {
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  await database.query('ANALYZE');
  await database.close();
}

/** Reports until the time is over, or the ads are. */
async function report({ urls, keys }: Cluster, batch: () => AdEvent[], ms: number) {
  let [accepted, refused] = [0, ''];
  const startedMs = performance.now();
  let seconds = 0;
  const body = (): string | undefined => {
    const events = batch();
    if (events.length === 0) return undefined;
    return JSON.stringify({ sent_at: new Date().toISOString(), events });
  };
  const onAnswer = (text: string): void => {
    for (const { status, code } of (JSON.parse(text) as EventBatchResult).results) {
      if (status === 'accepted') accepted += 1;
      else refused = code ?? status;
    }
    seconds = (performance.now() - startedMs) / 1_000;
  };
  await Promise.all(
    urls.map((url) =>
      load(
        {
          url,
          path: '/v1/events',
          key: keys.live.publishable,
          body,
          connections: atOnce / urls.length,
          onAnswer,
        },
        ms,
      ),
    ),
  );
  if (refused !== '') throw new Error(`Events were refused: ${refused}.`);
  return { accepted, seconds };
}
