/**
 * `npm run bench:history` measures what operators' reads cost as the history grows, and whether they delay ads: a service
 * with events, deliveries and decisions of four weeks, generated in bulk.
 */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { readOrigin } from '../service/results.ts';
import { addHistory, addRollups } from './fill.ts';
import { type Measurement, measureSite } from './measure.ts';
import { printMeasurement, publish } from './page.ts';
import { openSite, prepareHistory, writeHistory } from './site.ts';
import { openStore, type Store } from './stores.ts';

const values = readOptions({
  name: 'bench:history',
  about: `Measures what operators' reads cost as the history grows, and whether they delay ads: a service with events,
deliveries and decisions of four weeks, generated in bulk.
Takes about 4 minutes with the default sizes. Generating 20 million events takes half an hour.`,
  options: {
    sizes: {
      type: 'whole',
      several: true,
      default: [100_000, 1_000_000],
      help: 'stored events, each with a delivery, and a quarter as many decisions; about 1.6 GB per million',
    },
    embedded: 'measures the embedded database instead of PostgreSQL',
    seconds: { type: 'number', default: 30, help: 'length of each of the three periods' },
    rate: { type: 'number', default: 50, help: 'ads requested per second' },
    folder: {
      type: 'text',
      shown: 'folder',
      help: 'keeps the history there, for a later run with the same or a larger size',
    },
    'fill-only': 'generates the history without measuring; requires --folder',
    publish: 'writes the results to docs/benchmarks/history',
  },
  check: (given) =>
    given['fill-only'] && given.folder === undefined
      ? '--fill-only: got no --folder, expected the folder that keeps the history.'
      : undefined,
});

const load = { perSecond: values.rate, seconds: values.seconds };
const measured = readOrigin();
const store = await openStore(values.embedded ? 'embedded' : 'PostgreSQL', values.folder);
const measurements: Measurement[] = [];
try {
  for (const size of values.sizes) {
    await fill(store, size);
    if (values['fill-only']) continue;
    const measurement = await measure(store, size);
    printMeasurement(measurement, load);
    measurements.push(measurement);
  }
} finally {
  await store.stop();
}
if (values.publish)
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
