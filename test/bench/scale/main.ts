/**
 * `npm run bench:scale` measures how the service on PostgreSQL scales with the number of deliveries, processes, events
 * and rows. Each part of the benchmark covers one of them.
 */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { findBuilds } from '../service/builds.ts';
import { printVerdicts, publish, readPublished } from '../service/page.ts';
import { startReceiver } from '../service/receiver.ts';
import { readOrigin, type Scale } from '../service/results.ts';
import { requirePostgres } from '../service/side.ts';
import { accounts } from './accounts.ts';
import { deadEndpoint, deadEndpoints } from './dead-endpoint.ts';
import { events } from './events.ts';
import { growth } from './growth.ts';
import { oneEndpoint } from './one-endpoint.ts';
import type { Part } from './part.ts';

const parts = {
  'one-endpoint': oneEndpoint,
  'dead-endpoint': deadEndpoint,
  'dead-endpoints': deadEndpoints,
  accounts,
  events,
  growth,
} satisfies Record<string, Part>;
const names = Object.keys(parts) as (keyof typeof parts)[];
const { only, against, seconds, quick } = readOptions({
  name: 'bench:scale',
  about: `Measures how the service on PostgreSQL scales with the number of deliveries, processes, events and rows, and writes
docs/benchmarks/service. Requires Linux and PostgreSQL. Takes about 9 minutes.`,
  options: {
    only: { type: 'name', names, several: true, help: 'parts to measure' },
    against: {
      type: 'text',
      shown: 'checkout',
      help: 'also measures deliveries by another checkout, which must be built',
    },
    seconds: { type: 'number', default: 3, help: 'the length of a window' },
    quick: 'a tiny workload, to check that the benchmark works; publishes nothing',
  },
});
const builds = findBuilds(against);

const results: Scale = {};
const receiver = await startReceiver();
try {
  for (const name of only) {
    console.log(`${name}, ${new Date().toTimeString().slice(0, 8)}`);
    const measured = readOrigin();
    // Each part uses a fresh server. Otherwise, vacuuming another part's rows could slow it down.
    const postgres = await requirePostgres();
    const partResult = await parts[name]({
      postgres,
      receiver,
      builds,
      ms: quick ? 500 : seconds * 1_000,
      quick,
    });
    await postgres.stop();
    console.table(
      partResult.rows.map((row) =>
        Object.fromEntries(row.map((cell, i) => [partResult.head[i], cell])),
      ),
    );
    printVerdicts(partResult.verdicts);
    results[name] = { ...partResult, measured };
  }
} finally {
  await receiver.stop();
}
// Publishes all parts in order, including those that this run did not measure.
const allParts = { ...readPublished().scale, ...results };
const scale = Object.fromEntries(
  names.flatMap((name) => (allParts[name] ? [[name, allParts[name]]] : [])),
);
await publish({ scale }, quick);
