import type { KillSwitch, Webhook } from '../../../protocol/wire.ts';
import { startService } from '../../../service/test/start-service.ts';
import { median } from '../outbox/statistics.ts';
import { createClient } from '../service/ads.ts';
import { type BuildUnderTest, roundOrder } from '../service/builds.ts';
import { createDatabase, type Meter, openMeter } from '../service/meter.ts';
import { type Options, type Part, formatInteger } from './part.ts';

const budget = 1_000;
const responseMs = 50;
/** Timeout in milliseconds. A slower build is rated by the deliveries that it completes within this time. */
const timeoutMs = 20_000;

interface RoundResult {
  perSecond: number;
  serviceUs: number;
  databaseUs: number;
}

/** Measures how one process works through a backlog of deliveries to one endpoint. */
export const oneEndpoint: Part = async (options) => {
  const backlog = options.quick ? 300 : 10_000;
  const rounds = options.quick ? 1 : 3;
  const resultsByBuild = new Map<BuildUnderTest, RoundResult[]>(
    options.builds.map((build) => [build, []]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const build of roundOrder(options.builds, round))
      resultsByBuild.get(build)?.push(await measure(options, build, backlog));
  }
  const results = [...resultsByBuild].map(([{ name }, roundResults]) => {
    const computeMedian = (key: keyof RoundResult): number =>
      median(roundResults.map((result) => result[key])) ?? NaN;
    const [perSecond, serviceUs, databaseUs] = [
      computeMedian('perSecond'),
      computeMedian('serviceUs'),
      computeMedian('databaseUs'),
    ];
    return { name, perSecond, serviceUs, databaseUs };
  });
  const perSecond = results[0]?.perSecond ?? 0;
  return {
    title: 'Deliveries to one endpoint',
    verdicts: [
      {
        budget: `deliveries per second to one endpoint that responds after ${responseMs} ms: at least ${formatInteger(budget)}`,
        measured: `${formatInteger(perSecond)}/s`,
        held: perSecond >= budget,
      },
    ],
    head: ['', 'deliveries/s', 'service CPU, µs each', 'PostgreSQL CPU, µs each'],
    rows: results.map((result) => [
      result.name,
      formatInteger(result.perSecond),
      formatInteger(result.serviceUs),
      formatInteger(result.databaseUs),
    ]),
    note: `One process of the service, an endpoint in a separate process that responds after ${responseMs} ms, and a backlog of ${formatInteger(backlog)}; the median of ${rounds} rounds. A build that takes longer than ${timeoutMs / 1_000} s is stopped.`,
    plot: {
      axis: 'deliveries/s',
      rows: results.map((result) => ({
        label: result.name,
        value: result.perSecond,
      })),
    },
  };
};

async function measure(
  { postgres, receiver }: Options,
  { main }: BuildUnderTest,
  backlog: number,
): Promise<RoundResult> {
  const databaseUrl = await createDatabase(postgres);
  const service = await startService({
    ...(main === undefined ? {} : { main }),
    env: { RATE_LIMITS: 'off', DATABASE_URL: databaseUrl },
  });
  const client = createClient(service.url, service.keys.sandbox, 1);
  const meter = await openMeter([service.process.pid ?? 0], postgres, databaseUrl);
  try {
    const webhook = await client.addWebhook(
      `${receiver.url}/${responseMs}/one`,
      'kill_switch.changed',
    );
    receiver.clear();
    await client.call<KillSwitch>('POST', '/v1/kill-switches', {
      scope: 'placement',
      target_id: 'lobby',
      state: 'on',
      reason: 'bench:scale',
    });
    await receiver.waitFor(1);
    await meter.settle();
    receiver.clear();
    await multiply(meter, webhook, backlog);
    const usageBefore = await meter.read();
    await receiver.waitFor(backlog, timeoutMs).catch(() => undefined);
    const usageAfter = await meter.read();
    const { arrivals } = receiver;
    const [first, last] = [arrivals[0]?.atMs ?? 0, arrivals.at(-1)?.atMs ?? 0];
    const count = arrivals.length;
    console.log(`${main ?? 'this build'}: ${count} in ${formatInteger(last - first)} ms`);
    return {
      perSecond: ((count - 1) * 1_000) / (last - first),
      serviceUs: (usageAfter.serviceUs - usageBefore.serviceUs) / count,
      databaseUs: (usageAfter.databaseUs - usageBefore.databaseUs) / count,
    };
  } finally {
    await client.close();
    await meter.close();
    await service.stop();
  }
}

/** Enqueues copies of the webhook's event in one transaction. Each copy has its own delivery. */
export async function multiply(
  { query }: Pick<Meter, 'query'>,
  { id }: Pick<Webhook, 'id'>,
  copies: number,
  firstNumber = 1,
): Promise<void> {
  // Copies the whole row as JSON, so that the statement does not depend on the columns.
  const copy = (column: string): string =>
    `left(${column}, 14) || lpad(n::text, length(${column}) - 14, '0')`;
  await query(
    `WITH original AS (SELECT * FROM deliveries WHERE webhook_id = $1 LIMIT 1),
    numbers AS (SELECT n FROM generate_series($3::integer, $3::integer + $2::integer - 1) AS n),
    events AS (
      INSERT INTO webhook_events SELECT made.* FROM original
        JOIN webhook_events e ON e.account_id = original.account_id AND e.id = original.event_id
        CROSS JOIN numbers
        CROSS JOIN LATERAL jsonb_populate_record(NULL::webhook_events,
          to_jsonb(e) || jsonb_build_object('id', ${copy('e.id')})) AS made)
    INSERT INTO delivery_queue SELECT made.* FROM original CROSS JOIN numbers
      CROSS JOIN LATERAL jsonb_populate_record(NULL::delivery_queue, to_jsonb(original) || jsonb_build_object(
        'id', ${copy('original.id')}, 'event_id', ${copy('original.event_id')},
        'attempt', 0, 'attempts', '[]'::jsonb, 'next_at', now(), 'lease_until', NULL)) AS made`,
    [id, copies, firstNumber],
  );
  await query('ANALYZE');
}
