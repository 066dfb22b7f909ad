/** `npm run bench:demand`: measures what external sources add to the cost of a decision. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { printVerdicts } from '../service/page.ts';
import { readOrigin } from '../service/results.ts';
import { startSide } from '../service/side.ts';
import {
  addHousePlacement,
  addExternalPlacement,
  houseOnly,
  placements,
  listActiveSources,
  setSourceStatus,
  startPlayers,
} from './demand.ts';
import {
  compareHouseOnly,
  measureCosts,
  measureDirect,
  measureHanging,
  measureLatencies,
  measureWaiting,
  residentBytes,
} from './measure.ts';
import { publish } from './page.ts';
import { type DirectRow, judge, latencyRates, type LatencyRow } from './results.ts';
import { startSourceServer } from './source-server.ts';
import { measureStalls } from './stalls.ts';

const { quick } = readOptions({
  name: 'bench:demand',
  about: `Measures the latency, CPU and memory of decisions with external sources, and the longest stall on adversarial documents.
Compares decisions with their slowest source and with decisions without sources. Needs Linux and PostgreSQL, and about
8 minutes. Writes docs/benchmarks/demand.`,
  options: { quick: 'half a minute, to check that the benchmark works; publishes nothing' },
});
const plan = quick
  ? {
      rounds: 2,
      windowMs: 400,
      warmUp: { rounds: 1, windowMs: 400 },
      batches: 1,
      runs: 3,
      waiting: 64,
      houseOnly: { rounds: 2, windowMs: 400 },
    }
  : {
      rounds: 8,
      windowMs: 2_000,
      warmUp: { rounds: 4, windowMs: 3_000 },
      batches: 25,
      runs: 10,
      waiting: 500,
      houseOnly: { rounds: 120, windowMs: 500 },
    };
/** Number of player connections, one for each concurrent request. */
const connections = 500;

const log = (text: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${text}`);
const origin = readOrigin();
const server = await startSourceServer();
const side = await startSide(1, { name: 'this build' });
const { service } = side;
const players = startPlayers(service, server, connections);
try {
  const measured = { side, players };
  // Pauses the demo account's sources.
  await setSourceStatus(service, await listActiveSources(service), 'paused');
  await addHousePlacement(service, houseOnly);
  await addHousePlacement(service, 'all hang');
  for (const name of Object.keys(placements) as (keyof typeof placements)[])
    await addExternalPlacement(service, server, name, players);

  log('warming up');
  // The JIT compiler needs a few thousand decisions of each kind to warm up.
  await measureCosts(measured, plan.warmUp);
  await compareHouseOnly(measured, plan.warmUp);
  const pid = service.process.pid ?? 0;
  const startMb = residentBytes(pid) / 1e6;

  log('latencies');
  const latencies: LatencyRow[] = [];
  const direct: DirectRow[] = [];
  for (const rate of latencyRates) {
    latencies.push(...(await measureLatencies(measured, server, rate, plan)));
    direct.push(...(await measureDirect(measured, server, rate, plan)));
  }
  console.table(latencies);
  console.table(direct);
  log('hanging sources');
  const hanging = await measureHanging(measured, server, plan.batches);
  console.log(hanging);
  log('CPU');
  const costs = await measureCosts(measured, plan);
  console.table(costs);
  log('house ads only');
  const comparison = await compareHouseOnly(measured, plan.houseOnly);
  console.log(comparison);
  log('memory');
  const memory = {
    startMb,
    ...(await measureWaiting(measured, server, plan.waiting)),
    endMb: residentBytes(pid) / 1e6,
    decisions: latencies.reduce((sum, { count }) => sum + count, 0),
  };
  console.log(memory);
  log('stalls');
  const stalls = await measureStalls(server, plan.runs);
  console.table(stalls);

  const results = { latencies, direct, hanging, costs, houseOnly: comparison, stalls, memory };
  const verdicts = judge(results);
  printVerdicts(verdicts);
  await publish({ measured: origin, ...results, verdicts }, quick);
} finally {
  await players.close();
  await side.stop();
  await server.stop();
}
