/** `npm run bench:database` measures the cost of an ad on several databases, in alternating rounds. */
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { roundOrder } from '../service/builds.ts';
import { startReceiver } from '../service/receiver.ts';
import { readOrigin } from '../service/results.ts';
import { type AccountRow, killWorker } from './dead-worker.ts';
import { publish, summarize, type SideRow } from './page.ts';
import { openSide, type Side, startProcesses } from './side.ts';
import { playAds, type Window } from './whole-ads.ts';

const values = readOptions({
  name: 'bench:database',
  about: `Measures the latency and CPU time of decisions and of whole ads with their webhooks. The databases take turns.
Creates a new database on each server and does not delete it. For a Citus cluster, name the coordinator first. If a
URL has several hosts, starts one service process per host. All servers must run on this machine. Writes docs/benchmarks/database.`,
  options: {
    url: { type: 'text', shown: 'name=URL', several: true, help: 'a database; required' },
    rounds: {
      type: 'whole',
      default: 5,
      help: 'rounds; about 40 seconds for each database and round',
    },
    ads: { type: 'whole', default: 1_000, help: 'per database and round, 48 at a time' },
    'kill-worker':
      'also kills (SIGKILL) one of the last cluster’s workers under load, and restarts it',
    quick: 'only a few ads, to check that the benchmark works; publishes nothing',
  },
  check: ({ url }) =>
    url.length === 0 || url.some((text) => !/^[^=]+=postgres(ql)?:\/\//.test(text))
      ? `--url: got ${url.join(' ') || 'nothing'}, expected name=postgres://user@host:port/database.`
      : undefined,
});
const { quick } = values;
const rounds = quick ? 1 : values.rounds;
const loads = [
  { count: quick ? 10 : 150, atOnce: 1 },
  { count: quick ? 96 : values.ads, atOnce: 48 },
];
const windowMs = quick ? 3_000 : 15_000;

const measured = readOrigin();
const receiver = await startReceiver();
const sides: Side[] = [];
const windows = new Map<string, Window[]>();
let deadWorker: { name: string; rows: AccountRow[] } | undefined;
const formatKey = (side: Side, atOnce: number): string => `${side.name}/${atOnce}`;
try {
  for (const url of values.url) sides.push(await openSide(url));
  for (let round = 0; round < rounds; round += 1) {
    for (const side of roundOrder(sides, round)) {
      console.log(`round ${round + 1} of ${rounds}, ${side.name}`);
      // Several sides may use the same servers, so only the side under test runs its processes.
      const processes = await startProcesses(side, 48);
      try {
        const [client] = processes.clients;
        const webhook = await client?.addWebhook(`${receiver.url}/0/ads`, 'decision.rewarded');
        // Warm-up.
        await playAds(side, processes, receiver, { count: quick ? 48 : 600, atOnce: 48 });
        for (const load of loads) {
          const key = formatKey(side, load.atOnce);
          const window = await playAds(side, processes, receiver, load);
          windows.set(key, [...(windows.get(key) ?? []), window]);
        }
        await client?.call('DELETE', `/v1/webhooks/${webhook?.id}`);
      } finally {
        await processes.stop();
      }
    }
  }
  const cluster = sides.findLast(({ isCluster }) => isCluster);
  if (values['kill-worker']) {
    if (!cluster) throw new Error('--kill-worker: no --url is a Citus cluster.');
    console.log(`killing a worker in ${cluster.name}`);
    deadWorker = { name: cluster.name, rows: await killWorker(cluster, windowMs) };
  }
} finally {
  for (const side of sides) await side.stop();
  await receiver.stop();
}
const rows: SideRow[] = loads.flatMap(({ atOnce }) =>
  sides.map((side) => summarize(side, atOnce, windows.get(formatKey(side, atOnce)) ?? [])),
);
await publish({ measured, rounds, rows, ...(deadWorker ? { deadWorker } : {}) }, quick);
