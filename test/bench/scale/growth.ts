import { firstIdAt } from '../../../service/src/platform/ids.ts';
import { load } from '../../../service/test/load.ts';
import { type RunningService, startService } from '../../../service/test/start-service.ts';
import { percentile } from '../outbox/statistics.ts';
import { createDatabase, type Meter, openMeter } from '../service/meter.ts';
import { type Part, formatInteger } from './part.ts';

const budget = 1.2;
const batchSize = 100_000;

/** Measures the cost of a decision, in the service and in PostgreSQL, as the number of stored decisions grows. */
export const growth: Part = async ({ postgres, ms, quick }) => {
  const maxRows = quick ? 10_000 : 1_000_000;
  const databaseUrl = await createDatabase(postgres);
  const service = await startService({ env: { RATE_LIMITS: 'off', DATABASE_URL: databaseUrl } });
  const meter = await openMeter([service.process.pid ?? 0], postgres, databaseUrl);
  const steps: { stored: number; cpuUs: number; p50Ms: number }[] = [];
  try {
    await decide(service, 3 * ms);
    for (let rowCount = 1_000; rowCount <= maxRows; rowCount *= 10) {
      await fill(meter, rowCount);
      await decide(service, ms);
      let latencies: number[] = [];
      const { serviceUs, databaseUs } = await meter.measure(1, async () => {
        latencies = await decide(service, 2 * ms);
      });
      steps.push({
        stored: rowCount,
        cpuUs: (serviceUs + databaseUs) / latencies.length,
        p50Ms: percentile(latencies, 0.5) ?? NaN,
      });
    }
  } finally {
    await meter.close();
    await service.stop();
  }
  const ratio = (steps.at(-1)?.cpuUs ?? NaN) / (steps[0]?.cpuUs ?? NaN);
  return {
    title: 'Decisions by number of stored rows',
    verdicts: [
      {
        budget: `CPU per decision with ${formatInteger(maxRows)} stored ÷ with 1,000: at most ${budget}`,
        measured: ratio.toFixed(2),
        held: ratio <= budget,
      },
    ],
    head: ['decisions stored', 'service and PostgreSQL CPU, µs', 'p50, ms'],
    rows: steps.map(({ stored, cpuUs, p50Ms }) => [
      formatInteger(stored),
      cpuUs.toFixed(0),
      p50Ms.toFixed(1),
    ]),
    note: 'All decisions are in this week’s partition, which is the worst case; in production, they are spread over weeks.',
    plot: {
      axis: 'µs',
      rows: steps.map(({ stored, cpuUs }) => ({ label: formatInteger(stored), value: cpuUs })),
    },
  };
};

let players = 0;
/** Requests decisions with a concurrency of 64. Returns their latencies. */
async function decide({ url, keys }: RunningService, ms: number): Promise<number[]> {
  const body = (): string =>
    JSON.stringify({ placement: 'revive', user_ref: `player-${(players += 1)}` });
  const target = { url, path: '/v1/decisions', key: keys.live.publishable, body };
  return (await load(target, ms)).latencies;
}

/** Inserts decisions for other players until there are `target` decisions. Then runs VACUUM ANALYZE and a checkpoint. */
async function fill({ query }: Meter, target: number): Promise<void> {
  for (;;) {
    const [row] = await query<{ count: number }>('SELECT count(*)::bigint AS count FROM decisions');
    const missing = Math.min(target - (row?.count ?? 0), batchSize);
    if (missing <= 0) break;
    const prefix = firstIdAt('decision', Date.now()).slice(0, 14);
    await query(
      `INSERT INTO decisions (account_id, id, environment, status, placement, format, viewer, issued_at, expires_at, late_at, reward_state)
        SELECT 'acc_filling', $1 || substr(md5(random()::text || n), 1, 16), 'live', 'filled', 'revive', 'rewarded',
          substr(md5(random()::text), 1, 22), now(), now(), now(), 'none' FROM generate_series(1, $2) AS n`,
      [prefix, missing],
    );
  }
  await query('VACUUM (ANALYZE) decisions');
  await query('CHECKPOINT');
}
