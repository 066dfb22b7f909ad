/**
 * `npm run bench:panel` measures how long the panel's requests take with many objects of each kind: as many as the default
 * quotas admit, and 10,000 of each.
 */
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { quotaKinds } from '../../../service/src/platform/quota-limits.ts';
import { openStore, type Store } from '../history/stores.ts';
import { readOrigin } from '../service/results.ts';
import type { Counts } from './fill.ts';
import { measurePages } from './pages.ts';
import { type Measurement, printMeasurement, publish } from './page.ts';
import { openFilledSite } from './site.ts';

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '10' },
    stores: { type: 'string', default: 'PostgreSQL' },
    quotas: { type: 'string', default: 'default,raised' },
    publish: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(`npm run bench:panel [-- --each 10000 --rounds 10 --stores PostgreSQL,embedded --quotas default,raised --publish]

--each     objects of each kind
--rounds   how often each request is sent
--stores   the databases that are measured
--quotas   default: as many objects as the default quotas admit; raised: all of them
--publish  writes the results to docs/benchmarks/panel

Takes about 2 minutes for each database and quota.`);
  process.exit();
}

const each = Number(values.each);
const measured = readOrigin();
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const measurements: Measurement[] = [];
try {
  for (const store of values.stores.split(',') as Store['name'][]) {
    for (const quotas of values.quotas.split(',')) {
      const measurement = await measure(store, { each, isWithinQuotas: quotas !== 'raised' });
      printMeasurement(measurement);
      measurements.push(measurement);
    }
  }
} finally {
  await browser.close();
}
if (values.publish === true) await publish(measurements);

async function measure(name: Store['name'], counts: Counts): Promise<Measurement> {
  const raised = quotaKinds.map((kind) => `${kind}=1000000`).join(',');
  const settings = counts.isWithinQuotas ? {} : { ACCOUNT_QUOTAS: raised };
  const store = await openStore(name, undefined, settings);
  try {
    const site = await openFilledSite(store, counts);
    try {
      const requests = await measurePages(browser, site, Number(values.rounds));
      return { store: name, ...counts, measured, requests };
    } finally {
      await site.service.stop();
    }
  } finally {
    await store.stop();
  }
}
