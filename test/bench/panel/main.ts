/**
 * `npm run bench:panel` measures how long the panel's requests take with many objects of each kind: as many as the default
 * quotas admit, and 10,000 of each.
 */
import { chromium } from 'playwright';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { quotaKinds } from '../../../service/src/platform/quota-limits.ts';
import { openStore, type Store } from '../history/stores.ts';
import { readOrigin } from '../service/results.ts';
import type { Counts } from './fill.ts';
import { measurePages } from './pages.ts';
import { type Measurement, printMeasurement, publish } from './page.ts';
import { openFilledSite } from './site.ts';

const {
  each,
  rounds,
  stores,
  quotas,
  publish: isPublished,
} = readOptions({
  name: 'bench:panel',
  about: `Measures how long the panel's requests take with many objects of each kind. Takes about 2 minutes for each database
and quota.`,
  options: {
    each: { type: 'whole', default: 10_000, help: 'objects of each kind' },
    rounds: { type: 'whole', default: 10, help: 'how often each request is sent' },
    stores: {
      type: 'name',
      names: ['PostgreSQL', 'embedded'],
      several: true,
      default: 'PostgreSQL',
      help: 'the databases that are measured',
    },
    quotas: {
      type: 'name',
      names: ['default', 'raised'],
      several: true,
      help: 'default admits as many objects as the default quotas do, raised admits all of them',
    },
    publish: 'writes the results to docs/benchmarks/panel',
  },
});

const measured = readOrigin();
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const measurements: Measurement[] = [];
try {
  for (const store of stores) {
    for (const quota of quotas) {
      const measurement = await measure(store, { each, isWithinQuotas: quota !== 'raised' });
      printMeasurement(measurement);
      measurements.push(measurement);
    }
  }
} finally {
  await browser.close();
}
if (isPublished) await publish(measurements);

async function measure(name: Store['name'], counts: Counts): Promise<Measurement> {
  const raised = quotaKinds.map((kind) => `${kind}=1000000`).join(',');
  const settings = counts.isWithinQuotas ? {} : { ACCOUNT_QUOTAS: raised };
  const store = await openStore(name, undefined, settings);
  try {
    const site = await openFilledSite(store, counts);
    try {
      const requests = await measurePages(browser, site, rounds);
      return { store: name, ...counts, measured, requests };
    } finally {
      await site.service.stop();
    }
  } finally {
    await store.stop();
  }
}
