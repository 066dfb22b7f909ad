import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOriginChecks } from '../../src/demand/intake/check-origins.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createManualClock } from '../manual-clock.ts';

const clock = createManualClock(Date.UTC(2026, 10, 23));
const minuteMs = 60_000;
let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
  await database.query(
    `INSERT INTO creative_origins (account_id, environment, source_id, creative_id, sha256, due_at)
      SELECT 'acc_1', 'live', 'src_' || source, 'crv_' || source || '_' || n, '', $1::timestamptz - n * interval '1 s'
        FROM generate_series(1, 3) AS source, generate_series(1, 8) AS n`,
    [new Date(clock.nowMs())],
  );
});
afterAll(() => database.close());

/** Starts processes that each check for due comparisons once, and returns the queued jobs. */
async function runChecks(processes: number): Promise<string[]> {
  const jobs: string[] = [];
  const queue = { push: ({ key }: { key: string }) => jobs.push(key) > 0, stop: async () => {} };
  const deps = { database, clock, queue, log: pino({ level: 'silent' }), tracing: noTracing };
  const originChecks = Array.from({ length: processes }, () =>
    startOriginChecks(deps as unknown as Parameters<typeof startOriginChecks>[0]),
  );
  await Promise.all(originChecks.map((checks) => checks.stop()));
  return jobs.toSorted();
}

test('each due creative is claimed only once before its lease expires', async () => {
  const firstJobs = await runChecks(1);
  expect(firstJobs).toHaveLength(15);
  const laterJobs = await runChecks(3);
  expect(laterJobs).toHaveLength(9);
  expect(new Set([...firstJobs, ...laterJobs]).size).toBe(24);
  expect(await runChecks(1)).toEqual([]);
  clock.advance(30 * minuteMs - 1);
  expect(await runChecks(1)).toEqual([]);
  // No process has finished a comparison, so the leases expire.
  clock.advance(1);
  expect(new Set([...(await runChecks(2)), ...(await runChecks(2))]).size).toBe(24);
});
