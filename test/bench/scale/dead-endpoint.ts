import { setTimeout as sleep } from 'node:timers/promises';
import type { KillSwitch, Webhook } from '../../../protocol/wire.ts';
import { startService } from '../../../service/test/start-service.ts';
import { median, percentile } from '../outbox/statistics.ts';
import { createClient } from '../service/ads.ts';
import { roundOrder } from '../service/builds.ts';
import { createDatabase, openMeter } from '../service/meter.ts';
import { nowMs } from '../service/receiver.ts';
import { multiply } from './one-endpoint.ts';
import type { PartResult } from '../service/results.ts';
import { type Options, type Part, formatInteger } from './part.ts';

const endpoints = 100;
const budget = 1.1;
/**
 * How long to wait for the service to record earlier deliveries, in milliseconds. The service shares two cores with the
 * benchmark.
 */
const pauseMs = 150;
/** How many ads are requested one after another while an event is delivered. */
const decisions = 5;
/** Number of windows. This is enough for the dead endpoint's circuit breaker to open. */
const windows = 25;

/** Measures webhooks to a hundred endpoints, with and without a dead endpoint among them. */
export const deadEndpoint: Part = (options) => measure(options, 1);

/** Like {@link deadEndpoint}, with 30 dead endpoints. */
export const deadEndpoints: Part = (options) => measure(options, 30);

/** What one event shows: the latency of its deliveries and of decisions at the same time, in milliseconds. */
interface Round {
  deliveries: number[];
  decisions: number[];
}

/** A dead endpoint accepts requests but never responds. */
async function measure(options: Options, dead: number): Promise<PartResult> {
  const backlog = options.quick ? 100 : 10_000;
  const words = dead === 1 ? 'one' : String(dead);
  const sides = [
    { name: 'all respond', ...(await startSide(options, dead, 0)), rounds: [] as Round[] },
    {
      name: dead === 1 ? 'one never responds' : `${dead} never respond`,
      ...(await startSide(options, dead, backlog)),
      rounds: [] as Round[],
    },
  ] as const;
  try {
    for (const { announce } of sides) await announce();
    const endAtMs = nowMs() + windows * options.ms;
    // The two sides alternate, so that other load on the machine affects both equally.
    for (let round = 0; nowMs() < endAtMs; round += 1) {
      for (const { announce, rounds } of roundOrder(sides, round)) {
        await sleep(pauseMs);
        rounds.push(await announce());
      }
    }
  } finally {
    for (const { stop } of sides) await stop();
  }
  const read = (what: keyof Round) =>
    sides.map(({ rounds }) => rounds.map((round) => median(round[what]) ?? NaN)) as [
      number[],
      number[],
    ];
  const judge = (what: keyof Round, name: string) => {
    const [without, withDead] = read(what);
    const ratio = (median(withDead) ?? NaN) / (median(without) ?? NaN);
    const pairs = without.map((ms, index) => (withDead[index] ?? NaN) / ms);
    const [low, high] = [0.25, 0.75].map((share) => (percentile(pairs, share) ?? NaN).toFixed(2));
    return {
      budget: `${words} dead ${dead === 1 ? 'endpoint' : 'endpoints'} in a hundred, ${name}: at most ${budget} ×`,
      measured: `${ratio.toFixed(2)} × (interquartile range ${low}–${high})`,
      held: ratio <= budget,
    };
  };
  const [healthyMs, withDeadMs] = read('deliveries').map((ms) => median(ms) ?? NaN) as [
    number,
    number,
  ];
  return {
    title: `Webhooks with ${words} dead ${dead === 1 ? 'endpoint' : 'endpoints'} in a hundred`,
    verdicts: [
      judge('deliveries', 'latency of the others'),
      judge('decisions', 'latency of decisions'),
    ],
    head: ['of 100 endpoints', 'events', 'p50, ms', 'p95, ms', 'p99, ms', 'a decision, p50, ms'],
    rows: sides.map(({ name, rounds }) => {
      const latencies = rounds.flatMap(({ deliveries }) => deliveries);
      const decisionMs = median(rounds.flatMap((round) => round.decisions)) ?? NaN;
      const format = (share: number): string => (percentile(latencies, share) ?? NaN).toFixed(0);
      return [name, rounds.length, format(0.5), format(0.95), format(0.99), decisionMs.toFixed(1)];
    }),
    note: `The time from the request that causes an event to its arrival at each of the ${endpoints - dead} responsive endpoints. A dead endpoint accepts requests but never responds. ${dead === 1 ? 'It has' : 'Together, they have'} ${formatInteger(backlog)} deliveries pending. Ads are requested one after another at the same time. Two services alternate; the ratio compares their median latencies.`,
    plot: {
      axis: 'p50, ms',
      rows: [
        { label: 'all respond', value: healthyMs },
        { label: `${words} dead`, value: withDeadMs },
      ],
    },
  };
}

/** Starts a service with a hundred endpoints. With a backlog, the first ones never respond. */
async function startSide({ postgres, receiver }: Options, dead: number, backlog: number) {
  const databaseUrl = await createDatabase(postgres);
  const service = await startService({
    env: {
      RATE_LIMITS: 'off',
      ACCOUNT_QUOTAS: `webhooks=${endpoints}`,
      DATABASE_URL: databaseUrl,
    },
  });
  const client = createClient(service.url, service.keys.sandbox, 4);
  const add = (path: string): Promise<Webhook> =>
    client.addWebhook(receiver.url + path, 'kill_switch.changed');
  // Both sides exclude these endpoints from the measurement.
  const deadWebhooks: Webhook[] = [];
  for (let index = 0; index < dead; index += 1)
    deadWebhooks.push(await add(backlog > 0 ? `/never/${index}` : `/0/first-${index}`));
  for (let index = dead; index < endpoints; index += 1) await add(`/0/${index}`);
  let switchId: string | undefined;
  const announce = async (): Promise<Round> => {
    receiver.clear();
    const startedAtMs = nowMs();
    if (switchId === undefined) {
      const { id } = await client.call<KillSwitch>('POST', '/v1/kill-switches', {
        scope: 'placement',
        target_id: 'lobby',
        state: 'on',
        reason: 'bench:scale',
      });
      switchId = id;
    } else {
      await client.call('DELETE', `/v1/kill-switches/${switchId}`);
      switchId = undefined;
    }
    const decisionMs: number[] = [];
    for (let index = 0; index < decisions; index += 1) {
      const requestedAtMs = nowMs();
      await client.decide();
      decisionMs.push(nowMs() - requestedAtMs);
    }
    const arrivals = await receiver.waitFor(backlog > 0 ? endpoints - dead : endpoints);
    const deliveries = arrivals.flatMap(({ path, atMs }) =>
      path.startsWith('/0/first') ? [] : [atMs - startedAtMs],
    );
    return { deliveries, decisions: decisionMs };
  };
  if (backlog > 0) {
    await announce();
    const meter = await openMeter([], postgres, databaseUrl);
    const share = Math.ceil(backlog / dead);
    for (const [index, webhook] of deadWebhooks.entries())
      await multiply(meter, webhook, share, 1 + index * share);
    await meter.close();
  }
  return {
    announce,
    async stop() {
      await client.close();
      await service.stop();
    },
  };
}
