import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DecisionRecord, recordDecisions } from '../../src/decision/record-decisions.ts';
import { appendEvents } from '../../src/reward/timeline.ts';
import { readDecisions, readEvents } from '../../src/reward/read-decisions.ts';
import { createIds } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPartitions } from '../../src/store/partitions.ts';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { dropOldWeeks } from '../../src/history/start-upkeep.ts';
import { addAccount } from '../add-account.ts';
import { copyEmptyDatabase } from '../empty-database.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
let database: Database;
beforeAll(async () => {
  // A pooled database could have statistics and cached plans, so this test creates a fresh one.
  await copyEmptyDatabase(join(folder, 'database'));
  database = await openPGlite(join(folder, 'database'), () => undefined);
  await migrate(database);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const scope = { accountId: 'acc_1', environment: 'live' } as const;
const dayMs = 86_400_000;
/** A Thursday. */
const nowMs = Date.UTC(2026, 10, 19);

/** Stores a decision and one event, both at the given time, and returns the decision's id. */
async function storeDecision(atMs: number): Promise<string> {
  const id = createIds({ nowMs: () => atMs }, randomBytes)('decision');
  const record: DecisionRecord = {
    status: 'no_fill',
    reason: 'no_candidates',
    placement: 'revive',
    format: 'rewarded',
    creative_id: null,
    media_format: null,
    advertiser_id: null,
    source_id: null,
    house_ad_id: null,
    reserved_ad: null,
    reward: null,
    required_ms: null,
    evidence: null,
    invalid_reason: null,
    simulate: null,
    id,
    user_ref: null,
    viewer: null,
    child_directed: false,
    custom_data: null,
    explain: null,
    issued_at: atMs,
    expires_at: atMs,
    late_at: null,
  };
  await addAccount(database, scope.accountId);
  await recordDecisions(database, async () => false, [{ scope, record }]);
  expect(await reportEvent(id, atMs)).toBe(true);
  return id;
}

/** Reports an event for this decision. Returns false if the event is a duplicate. */
const reportEvent = async (decisionId: string, atMs: number): Promise<boolean> => {
  const [occurredAtMs, receivedAtMs] = [atMs, atMs];
  const times = { occurredAtMs, receivedAtMs, offsetMs: 0, clamped: false };
  const event = { id: 'event-1', decisionId, type: 'start', ...times } as const;
  const evidence = await readEvents(database, scope.accountId, [decisionId]);
  const { outcomes, written } = appendEvents(database, scope.accountId, [event], evidence);
  await written;
  return outcomes.get(event) === 'new';
};

const readPartitions = async (table: string): Promise<Record<string, string>> => {
  const column = table === 'decisions' ? 'id' : 'decision_id';
  const rows = await database.query<{ id: string; partition: string }>(
    `SELECT ${column} AS id, tableoid::regclass::text AS partition FROM ${table}`,
  );
  return Object.fromEntries(rows.map(({ id, partition }) => [id, partition]));
};

test.skipIf(!hasPostgres)(
  'a query plan that is cached while a partition is empty uses the index',
  async () => {
    const postgres = openPostgres(await createEmptyPostgresDatabase(), () => undefined);
    await migrate(postgres);
    await createPartitions(postgres, nowMs);
    await postgres.query('ANALYZE decisions');
    await postgres.query('ANALYZE timelines');
    const ids = Array.from({ length: 50 }, (_, index) => `dec_${index}`);
    const plans = await postgres.transaction(
      async (queries) => {
        // From the sixth execution on, the server uses a cached generic plan.
        for (let attempt = 0; attempt < 6; attempt += 1) {
          await readDecisions(queries, scope, ids, { lock: true });
          await readEvents(queries, scope.accountId, ids);
        }
        const preparedStatements = await queries.query<{ name: string; parameters: number }>(
          `SELECT name, cardinality(parameter_types) AS parameters FROM pg_prepared_statements
        WHERE statement LIKE '%requested_id%'`,
        );
        const plans = preparedStatements.map(({ name, parameters }) => {
          const params = ["'acc_1'", "'live'", `'{${ids.join()}}'`].filter(
            (_, i) => parameters > 2 || i !== 1,
          );
          return queries.query(`EXPLAIN EXECUTE ${name} (${params.join()})`);
        });
        return (await Promise.all(plans)).map((rows) => JSON.stringify(rows));
      },
      { preferIndexes: true },
    );
    await postgres.close();
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(
        /Index Cond: \(\(account_id = \$1\) AND (\(environment = \$2\) AND )?\(\w*id = requested.requested_id\)\)/,
      );
      expect(plan).not.toContain('Seq Scan');
    }
  },
);

test('dropping old weekly partitions does not change report sums', async () => {
  // Creates the current week's partition twice, as a restart would.
  for (const ms of [nowMs - 21 * dayMs, nowMs, nowMs]) await createPartitions(database, ms);
  const oldDecision = await storeDecision(nowMs - 21 * dayMs);
  const currentDecision = await storeDecision(nowMs);
  const nextWeekDecision = await storeDecision(nowMs + 5 * dayMs);
  // An imported decision can be from a week without a partition.
  const ancientDecision = await storeDecision(nowMs - 200 * dayMs);
  expect(await readPartitions('decisions')).toEqual({
    [oldDecision]: 'decisions_20261026',
    [currentDecision]: 'decisions_20261116',
    [nextWeekDecision]: 'decisions_20261123',
    [ancientDecision]: 'decisions_other',
  });
  expect(await readPartitions('timelines')).toEqual({
    [oldDecision]: 'timelines_20261026',
    [currentDecision]: 'timelines_20261116',
    [nextWeekDecision]: 'timelines_20261123',
    [ancientDecision]: 'timelines_other',
  });
  // A late duplicate is detected, because it belongs to the same partition as the original.
  expect(await reportEvent(oldDecision, nowMs)).toBe(false);

  const { dropped } = await dropOldWeeks(
    database,
    nowMs,
    { decisionsMs: 14 * dayMs, auditMs: undefined, archiveDirectory: undefined },
    new AbortController().signal,
  );
  expect(dropped).toEqual([
    'decisions_20260427',
    'timelines_20260427',
    'decisions_20261026',
    'timelines_20261026',
    'decision_demand_20261026',
    'tracker_requests_20261026',
    'webhook_events_20261026',
    'finished_deliveries_20261026',
  ]);
  expect(Object.keys(await readPartitions('decisions')).toSorted()).toEqual([
    currentDecision,
    nextWeekDecision,
  ]);
  expect(Object.keys(await readPartitions('timelines')).toSorted()).toEqual([
    currentDecision,
    nextWeekDecision,
  ]);
  expect(
    await database.query(
      `SELECT sum(count)::bigint AS count FROM rollup_counts WHERE metric = 'no_fill'`,
    ),
  ).toEqual([{ count: 4 }]);
});

test('rows written before their partition exists stay in the default partition', async () => {
  const futureAtMs = nowMs + 70 * dayMs;
  const id = await storeDecision(futureAtMs);
  await createPartitions(database, futureAtMs);
  expect((await readPartitions('decisions'))[id]).toBe('decisions_other');
  expect(await reportEvent(id, futureAtMs)).toBe(false);
});

test.skipIf(!hasPostgres)(
  'several processes can create the same partitions concurrently',
  async () => {
    const url = await createEmptyPostgresDatabase();
    const processes = [1, 2, 3].map(() => openPostgres(url, () => undefined));
    try {
      await Promise.all(processes.map((database) => migrate(database)));
      await Promise.all(processes.map((database) => createPartitions(database, nowMs)));
      const rows = await processes[0]?.query(
        `SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND relname LIKE 'decisions%' ORDER BY 1`,
      );
      expect(rows?.map((row) => row['relname'])).toEqual([
        'decisions_20261116',
        'decisions_20261123',
        'decisions_other',
      ]);
    } finally {
      await Promise.all(processes.map((database) => database.close()));
    }
  },
);
