/**
 * `npm run bench:scale` measures how the service on PostgreSQL scales with the number of deliveries, processes, events
 * and rows. Each part of the benchmark covers one of them.
 */
import { parseArgs } from 'node:util';
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

const parts: Record<string, Part> = {
  'one-endpoint': oneEndpoint,
  'dead-endpoint': deadEndpoint,
  'dead-endpoints': deadEndpoints,
  accounts,
  events,
  growth,
};
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help === true) {
  console.log(`npm run bench:scale [-- --only <part>… --against <checkout> --seconds <n> --quick]

Parts: ${Object.keys(parts).join(', ')}. --against: also measures deliveries by another checkout, which must be built.
--seconds: the length of a window. --quick: a tiny workload, to check that the benchmark works; publishes nothing.
Requires Linux and PostgreSQL. Takes about 9 minutes.`);
  process.exit();
}
const quick = values.quick === true;
const names = values.only ?? Object.keys(parts);
const selectedParts = names.map((name): [string, Part] => {
  const part = parts[name];
  if (part) return [name, part];
  throw new Error(`Unknown part ${name}. The parts are ${Object.keys(parts).join(', ')}.`);
});
const builds = findBuilds(values.against);

const results: Scale = {};
const receiver = await startReceiver();
try {
  for (const [name, part] of selectedParts) {
    console.log(`${name}, ${new Date().toTimeString().slice(0, 8)}`);
    const measured = readOrigin();
    // Each part uses a fresh server. Otherwise, vacuuming another part's rows could slow it down.
    const postgres = await requirePostgres();
    const partResult = await part({
      postgres,
      receiver,
      builds,
      ms: quick ? 500 : Number(values.seconds) * 1_000,
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
  Object.keys(parts).flatMap((name) => (allParts[name] ? [[name, allParts[name]]] : [])),
);
await publish({ scale }, quick);
