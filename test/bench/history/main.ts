/**
 * `npm run bench:history` measures what operators' reads cost as the history grows, and whether they delay ads: a service
 * with events, deliveries and decisions of four weeks, generated in bulk.
 */
import { parseArgs } from 'node:util';
import { readOrigin } from '../service/results.ts';
import { addHistory, addRollups } from './fill.ts';
import { type Measurement, measureSite } from './measure.ts';
import { printMeasurement, publish } from './page.ts';
import { openSite, prepareHistory, writeHistory } from './site.ts';
import { openStore, type Store } from './stores.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    embedded: { type: 'boolean' },
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '50' },
    folder: { type: 'string' },
    'fill-only': { type: 'boolean' },
    publish: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(`npm run bench:history [-- --sizes 1000000,20000000 --embedded --folder <folder> --publish]

--sizes      stored events, each with a delivery, and a quarter as many decisions; about 1.6 GB per million
--embedded   measures the embedded database instead of PostgreSQL
--seconds    length of each of the three periods (default: 30)
--rate       ads requested per second (default: 50)
--folder     keeps the history in this folder, for a later run with the same or a larger size
--fill-only  generates the history without measuring; requires --folder
--publish    writes the results to docs/benchmarks/history

Takes about 4 minutes with the default sizes. Generating 20 million events takes half an hour.`);
  process.exit();
}

const load = { perSecond: Number(values.rate), seconds: Number(values.seconds) };
const measured = readOrigin();
const store = await openStore(values.embedded === true ? 'embedded' : 'PostgreSQL', values.folder);
const measurements: Measurement[] = [];
try {
  for (const size of values.sizes.split(',').map(Number)) {
    await fill(store, size);
    if (values['fill-only'] === true) continue;
    const measurement = await measure(store, size);
    printMeasurement(measurement, load);
    measurements.push(measurement);
  }
} finally {
  await store.stop();
}
if (values.publish === true)
  await publish(measurements.map((measurement) => ({ ...measurement, measured, load })));

/** Adds what is missing to the history. */
async function fill(target: Store, size: number): Promise<void> {
  const history = await prepareHistory(target);
  if (history.stored >= size) return;
  const startedAtMs = performance.now();
  const database = await target.open();
  await addRollups(database, history.accountId);
  await addHistory(database, history, size - history.stored);
  await database.close();
  writeHistory(target, { ...history, stored: size });
  const seconds = (performance.now() - startedAtMs) / 1_000;
  console.log(`${size.toLocaleString('en')} events generated in ${seconds.toFixed(0)} s`);
}

async function measure(target: Store, size: number): Promise<Measurement> {
  const database = await target.open();
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
  const [row] = await database.query<{ gib: number }>(
    `SELECT round(pg_database_size(current_database()) / 1073741824.0, 2)::float8 AS gib`,
  );
  await database.close();
  const site = await openSite(target, await prepareHistory(target));
  try {
    const measured = await measureSite(site, load);
    return { store: target.name, stored: size, gib: row?.gib ?? NaN, ...measured };
  } finally {
    await site.stop();
  }
}
