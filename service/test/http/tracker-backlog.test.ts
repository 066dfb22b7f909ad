import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstIdAt } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { claimRequests } from '../../src/demand/tracker/request-store.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

/** The part of the EXPLAIN output that this test reads. */
interface ExplainOutput {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
}

const decisionCount = 40_000;
const nowMs = Date.now();
const sinceId = firstIdAt('decision', nowMs - 8 * 86_400_000);

describe.skipIf(!hasPostgres)('with a backlog of 80,000 requests to an unreachable host', () => {
  let database: Database;
  beforeAll(async () => {
    database = openPostgres(await createPostgresDatabase(), () => undefined);
    await migrate(database);
    // Decision ids contain a timestamp, so these decisions belong to the current week.
    const prefix = firstIdAt('decision', nowMs).slice(0, -8);
    const rows = `generate_series(1, ${decisionCount}) AS number,
      LATERAL (SELECT '${prefix}' || lpad(number::text, 8, '0') AS id) AS named`;
    await database.query(`INSERT INTO accounts VALUES ('acc_1', 'one', now())`);
    await database.query(
      `INSERT INTO decisions (account_id, id, environment, status, placement, format, source_id,
          issued_at, expires_at, reward_state)
        SELECT 'acc_1', id, 'live', 'filled', 'revive', 'rewarded', 'src_1', now(), now(), 'earned' FROM ${rows}`,
    );
    await database.query(
      `INSERT INTO decision_demand SELECT 'acc_1', id,
          '{"chosen":{"trackers":{"byEvent":{"impression":["http://a.test/","http://b.test/"]}}},"notices":[]}'
        FROM ${rows}`,
    );
    await database.query(
      `INSERT INTO tracker_requests (account_id, environment, decision_id, tracker, host, place, at_least_once, state,
          attempt, reached, next_at, late_at)
        SELECT 'acc_1', 'live', id, 'impression/' || place, CASE WHEN number % 400 = 0 THEN 'live.test' ELSE 'dead.test' END,
          place, false, 'pending', 0, false, now(), now() + interval '1 hour'
        FROM ${rows}, generate_series(0, 1) AS place`,
    );
  });
  afterAll(() => database.close());

  /** Runs the statements with EXPLAIN ANALYZE, and returns how many pages they read. */
  async function countPagesRead(run: (queries: Database) => Promise<unknown>): Promise<number> {
    let pages = 0;
    const query: Database['query'] = async (text, params) => {
      const [row] = await database.query<{ 'QUERY PLAN': [ExplainOutput] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        params,
      );
      const explainOutput = row?.['QUERY PLAN'][0];
      if (!explainOutput) throw new Error('EXPLAIN returned nothing');
      expect(explainOutput).not.toHaveProperty('JIT');
      pages += explainOutput.Plan['Shared Hit Blocks'] + explainOutput.Plan['Shared Read Blocks'];
      return [];
    };
    await run({ ...database, query });
    return pages;
  }

  test.each([false, true])(
    'a claim reads few pages (table statistics: %s)',
    async (hasStatistics) => {
      if (hasStatistics) await database.query('ANALYZE');
      const pages = await countPagesRead((queries) =>
        claimRequests(queries, {
          accountId: 'acc_1',
          hosts: [{ host: 'dead.test', free: 1 }],
          perHost: 10,
          limit: 500,
          leaseMs: 20_000,
          sinceId,
          nowMs: Date.now(),
        }),
      );
      // The backlog spans 2,000 pages. Earlier versions of the statement read at least 7,000, including repeated reads.
      expect(pages).toBeGreaterThan(50);
      expect(pages).toBeLessThan(1_000);
    },
  );
});
