import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addToRollups, type Count, foldDeltas } from '../../src/history/rollup.ts';
import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { foldRollups } from '../../src/history/fold-rollups.ts';
import { addAccount } from '../add-account.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';
import { ownRows } from '../neighbor.ts';

const masterKey = Buffer.alloc(32, 1).toString('base64');
const unabortedSignal = new AbortController().signal;
const rethrow = (_: string, error: unknown): never => {
  throw error;
};

/**
 * Compares row counts with the reported counts in a single snapshot, for the metrics that every ad in this test
 * increments.
 */
const compareQuery = `WITH rows AS (
    SELECT 'filled' AS metric, count(*) AS count FROM decisions WHERE status = 'filled' AND ${ownRows}
    UNION ALL SELECT 'starts', count(*) FROM recorded_events WHERE type = 'start' AND ${ownRows}
    UNION ALL SELECT 'clicks', count(*) FROM recorded_events WHERE type = 'click' AND ${ownRows}),
  sums AS (SELECT metric, sum(count) AS count FROM rollup_counts WHERE ${ownRows} GROUP BY metric)
  SELECT metric, rows.count::bigint AS recount, coalesce(sums.count, 0)::bigint AS reported
    FROM rows LEFT JOIN sums USING (metric) ORDER BY metric`;
interface ComparisonRow {
  metric: string;
  recount: number;
  reported: number;
}

describe.skipIf(!hasPostgres)('three processes serving the same account', () => {
  let databaseUrl: string;
  let processes: InProcessService[];
  let database: Database;
  let accountId: string;
  beforeAll(async () => {
    databaseUrl = await createPostgresDatabase();
    const env = {
      DATABASE_URL: databaseUrl,
      TRUEWARD_MASTER_KEY: masterKey,
      // Short, so that a statement that has to wait for a lock fails.
      DATABASE_LOCK_TIMEOUT_MS: '500',
      RATE_LIMITS: 'off',
    };
    const firstProcess = await startInProcess(env);
    processes = [firstProcess, await startInProcess(env), await startInProcess(env)];
    database = openPostgres(databaseUrl, () => undefined);
    const [row] = await database.query<{ account_id: string }>(
      `SELECT account_id FROM accounts WHERE name = 'Demo'`,
    );
    accountId = row?.account_id ?? '';
    // Claims the fold job, so that folds run only when a test starts them.
    await database.query(
      `INSERT INTO chores VALUES ('service', 'roll-ups', now() + interval '1 day')
        ON CONFLICT (account_id, name) DO UPDATE SET begun_at = excluded.begun_at`,
    );
  });
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    await database.close();
  });

  const getClient = (index: number) => {
    const [firstProcess, process = firstProcess] = [processes[0], processes[index]];
    if (!firstProcess || !process) throw new Error('The services are not running.');
    return createClient({ url: process.url, keys: firstProcess.keys });
  };
  const playAd = async (index: number, player: string): Promise<void> => {
    const client = getClient(index);
    const decision = await client.decideImage(player);
    const events = [client.createEvent(decision, 'start'), client.createEvent(decision, 'click')];
    const { status, body } = await client.report(...events);
    expect([status, body.results.map((result) => result.status)]).toEqual([
      200,
      ['accepted', 'accepted'],
    ]);
  };
  const expectEqualSums = async (): Promise<ComparisonRow[]> => {
    const rows = await database.query<ComparisonRow>(compareQuery);
    expect(rows.map(({ metric, reported }) => ({ metric, reported }))).toEqual(
      rows.map(({ metric, recount }) => ({ metric, reported: recount })),
    );
    return rows;
  };
  /** Returns an increment of zero for each metric, in the same groups that {@link playAd} increments. */
  const readCounts = async (): Promise<Count[]> => {
    const rows = await database.query<Record<string, string> & { hour: Date }>(
      `SELECT DISTINCT ON (metric) * FROM rollup_counts WHERE ${ownRows}`,
    );
    return rows.map((row) => ({
      environment: row['environment'] ?? '',
      dimensions: {
        placement: row['placement'] ?? '',
        creativeId: row['creative_id'] ?? null,
        sourceId: row['source_id'] ?? null,
        advertiserId: row['advertiser_id'] ?? null,
        houseAdId: row['house_ad_id'] ?? null,
      },
      atMs: row.hour.getTime(),
      metric: row['metric'] ?? '',
      increment: 0,
    }));
  };

  test('an open transaction that increments a count does not block other processes', async () => {
    await playAd(0, 'first');
    await foldRollups(database, unabortedSignal, rethrow);
    const counts = await readCounts();
    expect(counts.map(({ metric }) => metric)).toEqual(
      expect.arrayContaining(['filled', 'starts', 'clicks']),
    );
    await database.transaction(async (queries) => {
      await addToRollups(queries, accountId, counts);
      await Promise.all([0, 1, 2].map((index) => playAd(index, `beside-${index}`)));
    });
    await expectEqualSums();
  });

  test('neither a fold nor a lock on a roll-up row blocks any process', async () => {
    await playAd(0, 'before the fold');
    await database.transaction(async (queries) => {
      expect(await foldDeltas(queries, accountId, 1_000)).toBeGreaterThan(0);
      await queries.query('SELECT FROM rollups FOR UPDATE');
      await Promise.all([0, 1, 2].map((index) => playAd(index, `beside a fold-${index}`)));
      // The sums match the row counts both inside and outside the open transaction.
      const [ownRow] = await queries.query<ComparisonRow>(compareQuery);
      expect(ownRow?.reported).toBe(ownRow?.recount);
      await expectEqualSums();
      // A second fold times out while waiting for the deltas that the first fold has locked.
      const failedAccountIds: string[] = [];
      await foldRollups(database, unabortedSignal, (account) => failedAccountIds.push(account));
      expect(failedAccountIds).toEqual([accountId]);
    });
    await expectEqualSums();
  });

  test('a fold reads only the deltas that it folds', async () => {
    await playAd(0, 'before the plan');
    // Vacuums the empty table, so that the planner expects it to stay empty.
    await foldRollups(database, unabortedSignal, rethrow);
    await database.query(
      `INSERT INTO rollup_deltas SELECT account_id, gen_random_uuid(), environment, hour, placement, creative_id,
          source_id, advertiser_id, house_ad_id, metric, reason, 0
        FROM (SELECT * FROM rollups WHERE account_id = $1 LIMIT 1) AS rollup, generate_series(1, 5000)`,
      [accountId],
    );
    const plans: string[] = [];
    const explain = async <T>(text: string, params?: readonly unknown[]): Promise<T[]> => {
      const rows = await database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`,
        params,
      );
      plans.push(...rows.map((row) => row['QUERY PLAN']));
      return [];
    };
    await foldDeltas({ query: explain, execute: explain }, accountId, 1_000);
    expect(plans.join('\n')).toMatch(/Delete on rollup_deltas .*rows=1000 /);
    expect(plans.join('\n')).not.toContain('Rows Removed by Filter');
    await foldRollups(database, unabortedSignal, rethrow);
    await expectEqualSums();
  });

  test('reports match a recount while folds run, fail and are killed', async () => {
    const stopController = new AbortController();
    const [completedFolds, rolledBackFolds, killedFolds]: [number[], string[], string[]] = [
      [],
      [],
      [],
    ];
    const foldRepeatedly = async (): Promise<void> => {
      while (!stopController.signal.aborted) {
        completedFolds.push(await foldRollups(database, unabortedSignal, () => undefined));
        await sleep(5);
      }
    };
    const rollBackFolds = async (): Promise<void> => {
      while (!stopController.signal.aborted) {
        await database
          .transaction(async (queries) => {
            await foldDeltas(queries, accountId, 3);
            throw new Error('rolled back');
          })
          .catch((error: Error) => rolledBackFolds.push(error.message));
        await sleep(5);
      }
    };
    const killFolds = async (): Promise<void> => {
      while (!stopController.signal.aborted) {
        const foldSession = new pg.Client(databaseUrl);
        foldSession.on('error', () => undefined);
        await foldSession.connect();
        await foldSession.query('BEGIN');
        const queries = {
          query: async <T>(text: string, params?: readonly unknown[]) =>
            (await foldSession.query(text, params as unknown[])).rows as T[],
          execute: () => Promise.reject(new Error('unused')),
        };
        // The session may be killed while the fold waits for a row that another fold has locked.
        const { rows } = await foldSession.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        const fold = foldDeltas(queries, accountId, 3).catch(() => 0);
        await Promise.race([fold, sleep(20)]);
        await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
        await fold;
        killedFolds.push('killed');
        await foldSession.end().catch(() => undefined);
      }
    };
    let checkCount = 0;
    const checkSums = async (): Promise<void> => {
      while (!stopController.signal.aborted) {
        await expectEqualSums();
        checkCount += 1;
      }
    };
    const backgroundTasks = [foldRepeatedly(), rollBackFolds(), killFolds(), checkSums()];
    try {
      await Promise.all(
        [0, 1, 2].flatMap((index) =>
          Array.from({ length: 8 }, async (_, player) => {
            for (let round = 0; round < 5; round += 1)
              await playAd(index, `${index}-${player}-${round}`);
          }),
        ),
      );
    } finally {
      stopController.abort();
      await Promise.all(backgroundTasks);
    }
    expect(Math.min(checkCount, rolledBackFolds.length, killedFolds.length)).toBeGreaterThan(0);
    expect(completedFolds.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    const sumsBefore = await expectEqualSums();
    await foldRollups(database, unabortedSignal, rethrow);
    expect(await expectEqualSums()).toEqual(sumsBefore);
    expect(await database.query(`SELECT FROM rollup_deltas WHERE ${ownRows}`)).toEqual([]);
  });

  test("one account's failed fold does not affect other accounts", async () => {
    const [count] = await readCounts();
    if (!count) throw new Error('Nothing was counted.');
    for (const otherAccountId of ['acc_broken', 'acc_other']) {
      await addAccount(database, otherAccountId);
      await addToRollups(database, otherAccountId, [{ ...count, increment: 3 }]);
    }
    await database.query(`CREATE FUNCTION reject_poison() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'poison'; END $$`);
    await database.query(`CREATE TRIGGER reject_poison BEFORE INSERT ON rollups FOR EACH ROW
      WHEN (NEW.account_id = 'acc_broken') EXECUTE FUNCTION reject_poison()`);
    const cleanUp = () => database.query('DROP FUNCTION IF EXISTS reject_poison CASCADE');
    onTestFinished(async () => void (await cleanUp()));
    const failedAccountIds: string[] = [];
    await foldRollups(database, unabortedSignal, (account) => failedAccountIds.push(account));
    expect(failedAccountIds).toEqual(['acc_broken']);
    const readRemainingDeltas = () =>
      database.query(
        `SELECT account_id AS account, sum(count)::bigint AS count FROM rollup_deltas WHERE ${ownRows} GROUP BY account_id`,
      );
    expect(await readRemainingDeltas()).toEqual([{ account: 'acc_broken', count: 3 }]);
    await cleanUp();
    await foldRollups(database, unabortedSignal, rethrow);
    expect(await readRemainingDeltas()).toEqual([]);
  });
});
