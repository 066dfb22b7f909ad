import { firstIdAt } from '../../../service/src/platform/ids.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { startCluster } from '../../../service/test/faults/cluster.ts';
import { processorTimeUs } from '../service/processor-time.ts';
import { makeDatabase } from './bench-database.ts';
import { askDecisions } from './decisions.ts';
import type { Part } from './part.ts';

const atATime = 100_000;

/** What a decision costs the service and PostgreSQL together, the more of them are stored. */
export const growth: Part = async ({ postgres, ms, mostRows }) => {
  const databaseUrl = await makeDatabase(postgres);
  const cluster = await startCluster({ databaseUrl, processes: 1 });
  const database = openPostgres(databaseUrl, (error) => console.error(error));
  const pids = async () =>
    (
      await database.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
      )
    ).map(({ pid }) => pid);
  const measured: { stored: number; cpuUs: number; p50Ms: number }[] = [];
  try {
    await askDecisions(cluster, 3 * ms);
    for (let wanted = 1_000; wanted <= mostRows; wanted *= 10) {
      await fill(databaseUrl, wanted);
      await settle(databaseUrl);
      await askDecisions(cluster, ms);
      const busy = await pids();
      const spent = () => busy.reduce((sum, pid) => sum + processorTimeUs(pid), 0);
      const before = spent();
      const { cpuUs, perSecond, p50Ms } = await askDecisions(cluster, 2 * ms);
      const ofDatabase = (spent() - before) / ((perSecond * 2 * ms) / 1_000);
      measured.push({ stored: wanted, cpuUs: cpuUs + ofDatabase, p50Ms });
    }
  } finally {
    await database.close();
    await cluster.stop();
  }
  const [first, last] = [measured[0]?.cpuUs ?? NaN, measured.at(-1)?.cpuUs ?? NaN];
  return {
    verdicts: [
      {
        budget: `a decision costs the same with ${mostRows.toLocaleString('en')} stored as with 1,000: at most 1.2 ×`,
        measured: `${(last / first).toFixed(2)} ×`,
        held: last / first <= 1.2,
      },
    ],
    head: ['decisions stored', 'µs of processor, service and PostgreSQL', 'p50, ms'],
    rows: measured.map(({ stored, cpuUs, p50Ms }) => [
      stored.toLocaleString('en'),
      cpuUs.toFixed(0),
      p50Ms.toFixed(1),
    ]),
    note: 'All in the partition of this week, which is the worst case: in operation they are spread over weeks.',
    plot: {
      title: 'Processor time of a decision by what is stored',
      axis: 'µs',
      rows: measured.map(({ stored, cpuUs }) => ({
        label: stored.toLocaleString('en'),
        value: cpuUs,
      })),
    },
  };
};

/** Ends what so many rows at once leave PostgreSQL to do, and what decisions at their pace never heap up. */
async function settle(databaseUrl: string): Promise<void> {
  const limits = { poolSize: 1, timeoutMs: 600_000, lockTimeoutMs: 2_000, pooler: false };
  const database = openPostgres(databaseUrl, (error) => console.error(error), limits);
  await database.query('VACUUM (ANALYZE) decisions');
  await database.query('CHECKPOINT');
  await database.close();
}

/** Adds decisions of other players until there are so many. */
async function fill(databaseUrl: string, wanted: number): Promise<void> {
  const limits = { poolSize: 1, timeoutMs: 600_000, lockTimeoutMs: 2_000, pooler: false };
  const database = openPostgres(databaseUrl, (error) => console.error(error), limits);
  try {
    for (;;) {
      const [row] = await database.query<{ count: number }>(
        'SELECT count(*)::bigint AS count FROM decisions',
      );
      const missing = Math.min(wanted - (row?.count ?? 0), atATime);
      if (missing <= 0) return;
      const prefix = firstIdAt('decision', Date.now()).slice(0, 14);
      await database.query(
        `INSERT INTO decisions (account_id, id, environment, status, placement, format, viewer, issued_at, expires_at, late_at, reward_state)
          SELECT 'acc_filling', $1 || substr(md5(random()::text || n), 1, 16), 'live', 'filled', 'revive', 'rewarded',
            substr(md5(random()::text), 1, 22), now(), now(), now(), 'none' FROM generate_series(1, $2) AS n`,
        [prefix, missing],
      );
    }
  } finally {
    await database.close();
  }
}
