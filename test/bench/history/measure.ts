import { fork } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../outbox/statistics.ts';
import { openMeter } from '../service/meter.ts';
import { keepBusy, type Work } from './operators.ts';
import { keepListsStuck } from './stuck-lists.ts';
import { listPages, measurePages, type PageTimes } from './pages.ts';
import type { Site } from './site.ts';

/** Ads, or only operators, in a period. */
export interface Period {
  who: 'ads' | 'operators' | 'ads and operators' | 'ads and stuck lists';
  decisions: number;
  failed: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of all work, of the services and of PostgreSQL, in milliseconds per second. */
  serviceMsPerS: number;
  databaseMsPerS: number;
  work?: Work;
}

/** What was measured with one number of stored rows. */
export interface Measurement {
  store: 'PostgreSQL' | 'embedded';
  stored: number;
  gib: number;
  pages: PageTimes[];
  periods: Period[];
}

/** How ads are requested. */
export interface Load {
  perSecond: number;
  seconds: number;
}

/** Measures the panel's pages, then ads alone, operators alone, and both. */
export async function measureSite(
  site: Site,
  load: Load,
): Promise<Pick<Measurement, 'pages' | 'periods'>> {
  await requestAds(site, { ...load, seconds: Math.min(10, load.seconds) });
  console.log('  measuring pages');
  const pages = await measurePages(listPages(site.webhookId, Date.now()), site.read);
  const periods: Period[] = [];
  const all = ['ads', 'operators', 'ads and operators', 'ads and stuck lists'] as const;
  for (const who of site.store.postgres ? all : all.slice(0, 3)) {
    console.log(`  measuring ${who}`);
    periods.push(await measurePeriod(site, load, who));
    await sleep(1_000);
  }
  return { pages, periods };
}

async function measurePeriod(site: Site, load: Load, who: Period['who']): Promise<Period> {
  const { store, services } = site;
  const pids = services.map(({ process }) => process.pid ?? 0);
  const meter = await openMeter(pids, store.postgres);
  const stopping = new AbortController();
  // Each of the operators' tasks listens.
  setMaxListeners(0, stopping.signal);
  let ads: Ads = { latencies: [], failed: 0 };
  let work: Promise<Work | undefined> | undefined;
  const { serviceUs, databaseUs } = await meter.measure(load.seconds, async () => {
    if (who === 'ads and stuck lists') work = keepListsStuck(site, stopping.signal);
    else if (who !== 'ads') work = keepBusy(site, stopping.signal);
    // A failure is reported when the work is awaited.
    work?.catch(() => undefined);
    if (who === 'operators') await sleep(load.seconds * 1_000);
    else ads = await requestAds(site, load);
    // The meter couldn't read the size of a locked table.
    if (who === 'ads and stuck lists') {
      stopping.abort();
      await work;
    }
  });
  stopping.abort();
  const done = await work;
  await meter.close();
  return {
    who,
    decisions: ads.latencies.length,
    failed: ads.failed,
    p50Ms: percentile(ads.latencies, 0.5) ?? NaN,
    p99Ms: percentile(ads.latencies, 0.99) ?? NaN,
    serviceMsPerS: serviceUs / 1_000,
    databaseMsPerS: databaseUs / 1_000,
    ...(done ? { work: done } : {}),
  };
}

interface Ads {
  latencies: number[];
  failed: number;
}

async function requestAds({ services: [service] }: Site, load: Load): Promise<Ads> {
  if (!service) throw new Error('No service is running.');
  const players = fork(join(import.meta.dirname, 'players.mjs'), { execArgv: [] });
  players.send({ url: service.url, key: service.keys.live.publishable, ...load });
  const [ads] = (await once(players, 'message')) as [Ads];
  players.disconnect();
  return ads;
}
