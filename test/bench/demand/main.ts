/** `npm run bench:demand`: the cost of external sources for a decision. */
import { parseArgs } from 'node:util';
import { printVerdicts } from '../service/page.ts';
import { readOrigin } from '../service/results.ts';
import { type Side, startSide } from '../service/side.ts';
import {
  addHousePlacement,
  addExternalPlacement,
  houseOnly,
  placements,
  pauseSources,
  startPlayers,
} from './demand.ts';
import {
  compareHouseOnly,
  measureCosts,
  measureHanging,
  measureLatencies,
  measureWaiting,
  type Measured,
  residentBytes,
} from './measure.ts';
import { publish } from './page.ts';
import { judge } from './results.ts';
import { startSourceServer } from './source-server.ts';
import { measureStalls } from './stalls.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help === true) {
  console.log(`npm run bench:demand [-- --quick]

Latency, CPU and memory of decisions with external sources, compared with their slowest source and with decisions
without sources, and the longest stall on adversarial documents. --quick: half a minute, to see that it works; publishes
nothing. Needs Linux and PostgreSQL; about 6 minutes.`);
  process.exit();
}
const quick = values.quick === true;
const plan = quick
  ? {
      rounds: 2,
      windowMs: 400,
      warmUp: { rounds: 1, windowMs: 400 },
      batches: 1,
      runs: 3,
      waiting: 64,
      houseOnly: { rounds: 4, windowMs: 250 },
    }
  : {
      rounds: 8,
      windowMs: 2_000,
      warmUp: { rounds: 4, windowMs: 3_000 },
      batches: 25,
      runs: 10,
      waiting: 500,
      // Many short rounds, because other load on the machine changes from second to second.
      houseOnly: { rounds: 160, windowMs: 250 },
    };
/** Connections of the players: one for each concurrent request. */
const connections = 500;

const log = (text: string): void => console.log(`${new Date().toTimeString().slice(0, 8)} ${text}`);
const origin = readOrigin();
const sides: Side[] = [];
const opened: Measured[] = [];
const server = await startSourceServer();
try {
  const start = async (): Promise<Measured> => {
    const side = await startSide(1, { name: 'this build' });
    sides.push(side);
    const measured = { side, players: startPlayers(side.service, connections) };
    opened.push(measured);
    await pauseSources(side.service);
    await addHousePlacement(side.service, houseOnly);
    return measured;
  };
  const [withSources, without] = [await start(), await start()];
  await addHousePlacement(withSources.side.service, 'all hang');
  for (const name of Object.keys(placements) as (keyof typeof placements)[])
    await addExternalPlacement(withSources.side.service, server, name, withSources.players);

  log('warming up');
  // The JIT compiler needs some thousand decisions of each kind.
  await measureCosts(withSources, plan.warmUp);
  await compareHouseOnly(withSources, without, plan.warmUp);
  const pid = withSources.side.service.process.pid ?? 0;
  const startMb = residentBytes(pid) / 1e6;

  log('latencies');
  const latencies = await measureLatencies(withSources, server, plan);
  console.table(latencies);
  log('hanging sources');
  const hanging = await measureHanging(withSources, server, plan.batches);
  console.log(hanging);
  log('CPU');
  const costs = await measureCosts(withSources, plan);
  console.table(costs);
  log('house ads only');
  const comparison = await compareHouseOnly(withSources, without, plan.houseOnly);
  console.log(comparison);
  log('memory');
  const memory = {
    startMb,
    ...(await measureWaiting(withSources, server, plan.waiting)),
    endMb: residentBytes(pid) / 1e6,
    decisions: latencies.reduce((sum, { count }) => sum + count, 0),
  };
  console.log(memory);
  log('stalls');
  const stalls = await measureStalls(server, plan.runs);
  console.table(stalls);

  const results = { latencies, hanging, costs, houseOnly: comparison, stalls, memory };
  const verdicts = judge(results);
  printVerdicts(verdicts);
  await publish({ measured: origin, ...results, verdicts }, quick);
} finally {
  for (const { players } of opened) await players.close();
  for (const side of sides) await side.stop();
  await server.stop();
}
