/** `npm run bench:costs` measures the cost of an ad and of each of its requests, for this build and an older one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { median } from '../outbox/statistics.ts';
import { load } from '../../../service/test/load.ts';
import { type Ad, type Client, forEach, waitUntilWatched } from './ads.ts';
import { readCommit, findBuilds, roundOrder } from './builds.ts';
import { measureGroupCommit } from './group-commit.ts';
import { combine, type Cost, openMeter } from './meter.ts';
import { publish, printVerdicts } from './page.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { judge, readOrigin, type Round, summarize, type Unit } from './results.ts';
import { requirePostgres, type Side, startSide } from './side.ts';

const values = readOptions({
  name: 'bench:costs',
  about: `Measures the CPU time and bytes that a whole ad and its parts cost, compared with a bare echo server and the embedded
store. Writes docs/benchmarks/service.
Requires Linux and PostgreSQL. Takes about 7 minutes with --against, or 5 without.`,
  options: {
    against: {
      type: 'text',
      shown: 'checkout',
      help: 'also measures another checkout in alternating rounds; run npm ci and npm run build there first',
    },
    rounds: { type: 'whole', default: 7, help: 'rounds' },
    ads: { type: 'whole', default: 1_000, help: 'ads of each kind and round' },
    quick: 'only a few ads, to check that the benchmark works; publishes nothing',
  },
});
const rounds = values.quick ? 2 : values.rounds;
const ads = values.quick ? 60 : values.ads;
const windowMs = values.quick ? 500 : 2_000;
/** Number of whole ads that run concurrently. */
const concurrency = 48;
/** Number of concurrent decisions, and of concurrent requests to the echo server. */
const decisionConcurrency = 64;

/** Measures only decisions, at maximum throughput. */
async function measureDecisions({ meter, service }: Side): Promise<Cost> {
  let count = 0;
  const total = await meter.measure(1, async () => {
    count = await loadDecisions(service.url, service.keys.live.publishable);
  });
  return combine(total, total, (cost) => cost / count);
}

let players = 0;
async function loadDecisions(url: string, key?: string): Promise<number> {
  const body = (): string =>
    JSON.stringify({ placement: 'revive', user_ref: `one-${(players += 1)}`, locale: 'en' });
  const target = { url, path: key === undefined ? '/' : '/v1/decisions', body };
  const { latencies } = await load(
    { ...target, connections: decisionConcurrency, ...(key === undefined ? {} : { key }) },
    windowMs,
  );
  return latencies.length;
}

/** Ads in one environment, and the cost of each step. */
interface Batch {
  ads: Ad[];
  costs: Cost[];
}

async function startBatch({ name, meter }: Side, client: Client): Promise<Batch> {
  const list: Ad[] = [];
  const count = name === 'embedded' ? Math.ceil(ads / 4) : ads;
  const decision = await meter.measure(count, async () => {
    list.push(...(await forEach(Array.from({ length: count }), concurrency, client.decide)));
  });
  const start = await meter.measure(count, () => forEach(list, concurrency, client.start));
  return { ads: list, costs: [decision, start] };
}

async function measureNextStep(
  { meter }: Side,
  { ads: list, costs }: Batch,
  work: () => Promise<unknown>,
): Promise<void> {
  costs.push(await meter.measure(list.length, work));
}

/** One side's ads in one round. */
interface Batches {
  side: Side;
  /** Ads in the live environment, without a webhook. */
  live: Batch;
  /** Ads in the sandbox, because only sandbox webhooks may use loopback IPs. */
  withoutWebhook: Batch;
  withWebhook: Batch;
}

async function startBatches(side: Side): Promise<Batches> {
  const live = await startBatch(side, side.live);
  const withoutWebhook = await startBatch(side, side.sandbox);
  return { side, live, withoutWebhook, withWebhook: await startBatch(side, side.sandbox) };
}

async function watchAll({ side, live, withoutWebhook, withWebhook }: Batches): Promise<void> {
  const watch = (client: Client, batch: Batch): Promise<void> =>
    measureNextStep(side, batch, () => forEach(batch.ads, concurrency, client.quartiles));
  await watch(side.live, live);
  await watch(side.sandbox, withoutWebhook);
  await watch(side.sandbox, withWebhook);
}

async function finishAll(
  { side, live, withoutWebhook, withWebhook }: Batches,
  receiver: Receiver,
): Promise<Record<Exclude<Unit, 'decisionAlone'>, Cost>> {
  const finish = (client: Client, { ads: list }: Batch): Promise<unknown> =>
    forEach(list, concurrency, client.finish);
  await measureNextStep(side, live, () => finish(side.live, live));
  await measureNextStep(side, withoutWebhook, () => finish(side.sandbox, withoutWebhook));
  receiver.clear();
  const webhook = await side.sandbox.addWebhook(`${receiver.url}/0/ads`, 'decision.rewarded');
  await measureNextStep(side, withWebhook, async () => {
    await finish(side.sandbox, withWebhook);
    await receiver.waitFor(withWebhook.ads.length);
    await side.meter.settle();
  });
  await side.sandbox.call('DELETE', `/v1/webhooks/${webhook.id}`);
  const add = (costs: readonly Cost[]): Cost =>
    costs.reduce((sum, cost) => combine(sum, cost, (a, b) => a + b));
  const [decision, start, quartiles, finishCost] = live.costs as [Cost, Cost, Cost, Cost];
  const delivery = combine(
    withWebhook.costs[3] as Cost,
    withoutWebhook.costs[3] as Cost,
    (a, b) => a - b,
  );
  // The sandbox stores an explanation with each decision, so the bytes are measured in the live environment.
  const { storedBytes, loggedBytes } = add([...live.costs, delivery]);
  const ad = { ...add(withWebhook.costs), storedBytes, loggedBytes };
  return { decision, start, quartiles, finish: finishCost, delivery, ad };
}

/** The baseline: a `node:http` echo server in a separate process. */
async function startEcho() {
  const child = fork(join(import.meta.dirname, 'echo.mjs'));
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const meter = await openMeter([child.pid ?? 0]);
  return {
    async measure(): Promise<number> {
      let count = 0;
      const { serviceUs } = await meter.measure(1, async () => {
        count = await loadDecisions(url);
      });
      return serviceUs / count;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function runRound(
  sides: readonly Side[],
  echo: Awaited<ReturnType<typeof startEcho>>,
  receiver: Receiver,
): Promise<Round> {
  const round: Round = { echoUs: await echo.measure(), sides: {} };
  const decisionAlone = new Map<Side, Cost>();
  for (const side of sides) decisionAlone.set(side, await measureDecisions(side));
  const allBatches: Batches[] = [];
  for (const side of sides) allBatches.push(await startBatches(side));
  const list = allBatches.flatMap(({ live, withoutWebhook, withWebhook }) => [
    ...live.ads,
    ...withoutWebhook.ads,
    ...withWebhook.ads,
  ]);
  // All ads are watched at the same time.
  await waitUntilWatched(list, 0.75);
  for (const batches of allBatches) await watchAll(batches);
  await waitUntilWatched(list, 1);
  for (const batches of allBatches) {
    const { side } = batches;
    const decisionCosts = decisionAlone.get(side);
    if (!decisionCosts) throw new Error(`${side.name} received no decision requests.`);
    round.sides[side.name] = {
      decisionAlone: decisionCosts,
      ...(await finishAll(batches, receiver)),
    };
  }
  return round;
}

function printRound(round: Round): void {
  console.log(`echo: ${round.echoUs.toFixed(0)} µs`);
  for (const [name, costs] of Object.entries(round.sides)) {
    console.log(name);
    console.table(
      Object.fromEntries(
        Object.entries(costs).map(([unit, cost]) => [
          unit,
          combine(cost, cost, (value) => Math.round(value)),
        ]),
      ),
    );
  }
}

const measured = readOrigin();
const sides: Side[] = [];
const results: Round[] = [];
const receiver = await startReceiver();
const echo = await startEcho();
try {
  for (const build of findBuilds(values.against)) sides.push(await startSide(concurrency, build));
  sides.push(await startSide(concurrency));
  console.log('warming up');
  // The JIT compiler needs a few thousand requests to warm up.
  await runRound(sides, echo, receiver);
  for (let round = 0; round < rounds; round += 1) {
    console.log(`round ${round + 1} of ${rounds}, ${new Date().toTimeString().slice(0, 8)}`);
    const result = await runRound(roundOrder(sides, round), echo, receiver);
    printRound(result);
    results.push(result);
  }
} finally {
  for (const side of sides) await side.stop();
  await echo.stop();
  await receiver.stop();
}
console.log('group commit');
const postgres = await requirePostgres();
const groupCommit = {
  postgresql: await measureGroupCommit(postgres.url, 2, windowMs),
  embedded: await measureGroupCommit(undefined, 2, windowMs),
};
await postgres.stop();
const costs = {
  measured,
  rounds,
  ads,
  costs: summarize(results, 'this build'),
  echoUs: Math.round(median(results.map(({ echoUs }) => echoUs)) ?? 0),
  embedded: summarize(results, 'embedded'),
  groupCommit,
};
const comparison = values.against !== undefined && {
  measured,
  older: readCommit(values.against),
  rounds: results,
  verdicts: judge(results),
};
if (comparison) printVerdicts(comparison.verdicts);
await publish({ costs, ...(comparison ? { comparison } : {}) }, values.quick);
