import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../../../service/test/start-service.ts';
import { median } from '../outbox/statistics.ts';
import { type Ad, type Client, createClient, forEach, waitUntilWatched } from '../service/ads.ts';
import { roundOrder } from '../service/builds.ts';
import { createDatabase, type Meter, openMeter } from '../service/meter.ts';
import { nowMs } from '../service/receiver.ts';
import { type Options, type Part, formatInteger } from './part.ts';

const processes = 3;
const budget = 0.9;
/** Concurrent requests per process. */
const concurrency = 16;
const sampleMs = 20;

/** Which account each process serves. */
const variants = [
  { name: 'one account', accountOf: () => 0 },
  { name: 'three accounts', accountOf: (index: number) => index },
] as const;
type Variant = (typeof variants)[number];

/** Compares three processes that serve the same account with three processes that serve one account each. */
export const accounts: Part = async (options) => {
  const ads = options.quick ? 60 : 1_500;
  const rounds = options.quick ? 1 : 6;
  const { clients, meter, stop } = await startProcesses(options);
  const sampler = startSampler(meter);
  const perSecond = new Map<Variant, number[]>(variants.map((variant) => [variant, []]));
  try {
    // The first round is a warm-up.
    for (let round = -1; round < rounds; round += 1) {
      const runs = roundOrder(variants, round + 2).map((variant) => ({
        variant,
        ads: [] as Ad[][],
        ms: 0,
      }));
      const step = async (work: (run: (typeof runs)[number]) => Promise<unknown>) => {
        for (const run of runs) {
          const startedAtMs = nowMs();
          sampler.setPhase(run.variant.name);
          await work(run);
          sampler.setPhase(undefined);
          run.ms += nowMs() - startedAtMs;
        }
      };
      const onAll = (variant: Variant, work: (client: Client, index: number) => Promise<unknown>) =>
        Promise.all(
          clients.map((row, index) => work(row[variant.accountOf(index)] as Client, index)),
        );
      const share = Array.from({ length: ads / processes });
      await step(({ variant, ads: adLists }) =>
        onAll(variant, async (client, index) => {
          const list = await forEach(share, concurrency, client.decide);
          await forEach(list, concurrency, client.start);
          adLists[index] = list;
        }),
      );
      const startedAds = runs.flatMap((run) => run.ads.flat());
      await waitUntilWatched(startedAds, 0.75);
      await step((run) =>
        onAll(run.variant, (client, index) =>
          forEach(run.ads[index] ?? [], concurrency, client.quartiles),
        ),
      );
      await waitUntilWatched(startedAds, 1);
      await step(async (run) => {
        options.receiver.clear();
        await onAll(run.variant, (client, index) =>
          forEach(run.ads[index] ?? [], concurrency, client.finish),
        );
        await options.receiver.waitFor(ads);
      });
      for (const { variant, ms } of runs)
        if (round >= 0) perSecond.get(variant)?.push((ads * 1_000) / ms);
      await meter.settle();
    }
  } finally {
    await sampler.stop();
    await stop();
  }
  const [oneAccountRates = [], threeAccountRates = []] = [...perSecond.values()];
  const ratio =
    median(oneAccountRates.map((value, index) => value / (threeAccountRates[index] ?? NaN))) ?? NaN;
  const oneAccountSessions = sampler.sessions['one account'] ?? { waiting: 0, active: 0 };
  return {
    title: 'Three processes on one account',
    verdicts: [
      {
        budget: `whole ads per second, three processes on one account ÷ on three: at least ${budget}`,
        measured: ratio.toFixed(2),
        held: ratio >= budget,
      },
      {
        budget: 'three processes on one account: no session waits for a roll-up row',
        measured: `${oneAccountSessions.waiting} of ${formatInteger(oneAccountSessions.active)} sampled active sessions`,
        held: oneAccountSessions.waiting === 0,
      },
    ],
    head: ['', 'whole ads/s', 'active sessions sampled', 'of those, waiting for a roll-up lock'],
    rows: [...perSecond].map(([{ name }, values]) => [
      name,
      formatInteger(median(values) ?? NaN),
      formatInteger(sampler.sessions[name]?.active ?? 0),
      formatInteger(sampler.sessions[name]?.waiting ?? 0),
    ]),
    note: `Three processes on one database, each with ${concurrency} concurrent requests; ${formatInteger(ads)} ads per round with their webhooks; ${rounds} rounds. The time spent watching ads is excluded. \`pg_stat_activity\` is sampled every ${sampleMs} ms.`,
    plot: {
      axis: 'whole ads/s',
      rows: [...perSecond].map(([{ name }, values]) => ({
        label: name,
        value: median(values) ?? NaN,
      })),
    },
  };
};

/** Starts processes that each create their own account, because each has its own data folder. */
async function startProcesses({ postgres, receiver }: Options) {
  const databaseUrl = await createDatabase(postgres);
  const env = {
    DATABASE_URL: databaseUrl,
    RATE_LIMITS: 'off',
    // All processes have the same master key, as in production.
    TRUEWARD_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  const services: Awaited<ReturnType<typeof startService>>[] = [];
  for (let index = 0; index < processes; index += 1) services.push(await startService({ env }));
  const clients = services.map(({ url }) =>
    services.map(({ keys }) => createClient(url, keys.sandbox, concurrency)),
  );
  for (const [index, row] of clients.entries())
    await row[index]?.addWebhook(`${receiver.url}/0/${index}`, 'decision.rewarded');
  // Gives each process time to load every account and its webhook. Processes poll twice per second.
  await sleep(2_000);
  const meter = await openMeter(
    services.map(({ process: { pid = 0 } }) => pid),
    postgres,
    databaseUrl,
  );
  return {
    clients,
    meter,
    async stop() {
      await meter.close();
      await Promise.all(clients.flat().map((client) => client.close()));
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

/** Counts the active database sessions, and how many of them are waiting for a lock while writing roll-ups. */
function startSampler({ query }: Meter) {
  const sessions: Record<string, { waiting: number; active: number }> = {};
  let phase: string | undefined;
  let isStopped = false;
  const sample = async (): Promise<void> => {
    while (!isStopped) {
      const sampledPhase = phase;
      if (sampledPhase !== undefined) {
        const [row] = await query<{ active: number; waiting: number }>(
          `SELECT count(*)::integer AS active,
            count(*) FILTER (WHERE wait_event_type = 'Lock' AND query ILIKE '%rollup%')::integer AS waiting
          FROM pg_stat_activity
          WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`,
        );
        const sum = (sessions[sampledPhase] ??= { waiting: 0, active: 0 });
        sum.active += row?.active ?? 0;
        sum.waiting += row?.waiting ?? 0;
      }
      await sleep(sampleMs);
    }
  };
  const sampling = sample();
  return {
    sessions,
    setPhase(name: string | undefined): void {
      phase = name;
    },
    async stop() {
      isStopped = true;
      await sampling;
    },
  };
}
