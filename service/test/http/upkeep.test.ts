import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstIdAt } from '../../src/platform/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { readReport } from '../../src/history/report.ts';
import { addToRollups, rollUpDays } from '../../src/history/rollup.ts';
import { migrate } from '../../src/store/migrate.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { foldRollups } from '../../src/history/fold-rollups.ts';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { startUpkeep } from '../../src/history/start-upkeep.ts';
import { claimChore } from '../../src/history/claim-chore.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createManualClock } from '../manual-clock.ts';
import { ownRows, ownRowsBy } from '../neighbor.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
  await database.query(
    `INSERT INTO accounts VALUES ('acc_1', 'One', now()), ('acc_2', 'Two', now())`,
  );
});
afterAll(() => database.close());

const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 10, 19, 12);
const daysAgo = (count: number): string =>
  `'${new Date(nowMs - count * dayMs).toISOString()}'::timestamptz`;
/** Returns an SQL expression for ids of this age. The `n` column makes them unique. */
const createIdExpression = (
  kind: 'webhookEvent' | 'delivery' | 'auditEntry' | 'job',
  age: number,
): string => `'${firstIdAt(kind, nowMs - age * dayMs).slice(0, 14)}' || lpad(n::text, 16, '0')`;
const countRows = async (table: string): Promise<number> => {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM ${table} AS t WHERE ${ownRowsBy('t::text')}`,
  );
  return row?.count ?? -1;
};
const countTables = async (tables: readonly string[]): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(tables.map(async (table) => [table, await countRows(table)])),
  );

async function storeWebhookEvents(age: number, events: number): Promise<void> {
  const numbers = `generate_series(1, ${events}) AS n`;
  const [event, delivery] = [
    createIdExpression('webhookEvent', age),
    createIdExpression('delivery', age),
  ];
  for (const statement of [
    `INSERT INTO webhook_events SELECT 'acc_1', ${event}, 'live', 'decision.rewarded', '{}', ${daysAgo(age)} FROM ${numbers}`,
    `INSERT INTO finished_deliveries SELECT 'acc_1', ${delivery}, 'live', ${event}, 'whk_1', 'delivered', '[]', ${daysAgo(age)}
      FROM ${numbers}`,
  ])
    await database.query(statement);
}

const growingTables = [
  'idempotency_keys',
  'sessions',
  'user_links',
  'sign_in_attempts',
  'limit_uses',
  'audit_entries',
  'viewers',
  'player_tokens',
  'link_codes',
  'wallet_balances',
  'wallet_entries',
  'jobs',
] as const;

test('old rows are deleted in batches', async () => {
  const batches = [
    // More than one batch of old rows, and five newer rows.
    [1_500, 100],
    [5, 0],
  ] as const;
  for (const [rows, age] of batches) {
    const numbers = `generate_series(1, ${rows}) AS n`;
    for (const statement of [
      `INSERT INTO idempotency_keys SELECT 'acc_1', 'live', ${age} || '-' || n, 'h', 200, 'a', ${daysAgo(age)} FROM ${numbers}`,
      `INSERT INTO sessions SELECT 'acc_2', ${age} || '-' || n, 'usr_1', ${daysAgo(age)}, ${daysAgo(age - 0.5)}, now() FROM ${numbers}`,
      `INSERT INTO user_links SELECT 'service', ${age} || '-' || n, NULL, ${daysAgo(age - 0.5)} FROM ${numbers}`,
      `INSERT INTO sign_in_attempts SELECT 'service', ${age} || '-' || n, 1, now(), ${daysAgo(age)} FROM ${numbers}`,
      `INSERT INTO limit_uses SELECT 'service', 'process', ${age} || '-' || n, 1, ${daysAgo(age)} FROM ${numbers}`,
      `INSERT INTO audit_entries (account_id, id, environment, actor, action, target_id, created_at)
        SELECT 'acc_2', ${createIdExpression('auditEntry', age)}, 'live', 'a', 'placement.updated', 't', ${daysAgo(age)} FROM ${numbers}`,
      `INSERT INTO viewers SELECT 'acc_1', 'live', ${age} || '-' || n, ${daysAgo(age)} FROM ${numbers}`,
      `INSERT INTO player_tokens SELECT 'acc_1', 'live', ${age} || '-' || n, 'ply_1', ${age} || '-' || n, ${daysAgo(age)}, ${daysAgo(5 * age)}
        FROM ${numbers}`,
      `INSERT INTO link_codes SELECT 'acc_1', 'live', ${age} || '-l' || n, 'ply_1', ${age} || '-' || n, ${daysAgo(age - 0.5)} FROM ${numbers}`,
      `INSERT INTO wallet_balances SELECT 'acc_1', 'live', ${age} || '-' || n, 'coins', 5, NULL, 1 FROM ${numbers}`,
      `INSERT INTO wallet_entries SELECT 'acc_1', 'live', ${age} || '-' || n, 'id', 'reward', 'coins', 5, NULL, NULL, 5, 1, ${daysAgo(5 * age)}
        FROM ${numbers}`,
      `INSERT INTO jobs (account_id, id, environment, kind, request, state, progress, counts, actor, created_at)
        SELECT 'acc_1', ${createIdExpression('job', age)}, 'live', 'recovery', '{}', 'done', 1, '{}', 'a', now() FROM ${numbers}`,
    ])
      await database.query(statement);
  }
  const deleteOld = (retention: { decisionsMs?: number; auditMs?: number }) =>
    deleteOldRows(
      database,
      nowMs,
      {
        decisionsMs: retention.decisionsMs,
        auditMs: retention.auditMs,
        archiveDirectory: undefined,
      },
      new AbortController().signal,
    );
  // Without a retention period, audit entries are kept.
  expect(await deleteOld({})).toEqual({
    idempotency_keys: 1_500,
    sessions: 1_500,
    link_codes: 1_500,
    user_links: 1_500,
    sign_in_attempts: 1_500,
    limit_uses: 1_500,
    viewers: 1_500,
    player_tokens: 1_500,
    jobs: 1_500,
  });
  expect(await deleteOld({ auditMs: 99 * dayMs })).toEqual({ audit_entries: 1_500 });
  expect(await countTables(growingTables)).toEqual(
    Object.fromEntries(growingTables.map((table) => [table, 5])),
  );
  expect(await deleteOld({ decisionsMs: 90 * dayMs, auditMs: 99 * dayMs })).toEqual({});
});

test('a guest is kept with the wallet as long as one of the devices is used', async () => {
  const deleteOld = () =>
    deleteOldRows(
      database,
      nowMs,
      { decisionsMs: undefined, auditMs: undefined, archiveDirectory: undefined },
      new AbortController().signal,
    );
  const rows = [`'acc_1', 'live', 'two devices'`, `viewer = 'two devices'`] as const;
  for (const statement of [
    `INSERT INTO player_tokens SELECT 'acc_1', 'live', hash, 'ply_2', 'two devices', ${daysAgo(900)}, at
      FROM (VALUES ('first', ${daysAgo(401)}), ('second', ${daysAgo(401)}), ('third', ${daysAgo(400)})) AS devices(hash, at)`,
    `INSERT INTO wallet_balances VALUES (${rows[0]}, 'coins', 5, NULL, 1)`,
    `INSERT INTO wallet_entries VALUES (${rows[0]}, 'id', 'reward', 'coins', 5, NULL, NULL, 5, 1, ${daysAgo(900)})`,
  ])
    await database.query(statement);
  const countOwn = async () => {
    const [row] = await database.query(
      ['player_tokens', 'wallet_balances', 'wallet_entries', 'viewers']
        .map((table) => `(SELECT count(*) FROM ${table} WHERE ${rows[1]})::int AS ${table}`)
        .join(', ')
        .replace(/^/, 'SELECT '),
    );
    return row;
  };
  expect(await deleteOld()).toEqual({ player_tokens: 2 });
  const kept = { player_tokens: 1, wallet_balances: 1, wallet_entries: 1, viewers: 0 };
  expect(await countOwn()).toEqual(kept);
  await database.query(`UPDATE player_tokens SET used_at = ${daysAgo(401)} WHERE ${rows[1]}`);
  expect(await deleteOld()).toEqual({ player_tokens: 1 });
  expect(await countOwn()).toEqual(Object.fromEntries(Object.keys(kept).map((name) => [name, 0])));
});

test('every table has a defined retention period', async () => {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
      AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const weeklyTables =
    'decisions timelines decision_demand tracker_requests webhook_events finished_deliveries'.split(
      ' ',
    );
  // A delivery leaves the queue when it is delivered, or after its last attempt.
  const queues = ['delivery_queue'];
  // One row per hour, placement and creative. These rows are kept forever.
  const permanentTables = ['rollups'];
  // Rows that are folded into the roll-ups every ten seconds.
  const foldedTables = ['rollup_deltas'];
  // One row per object that an operator created, or per chore.
  const operatorTables =
    'accounts keys secrets resources config_versions users sign_in_names webhook_failures chores'
      .concat(' archived_weeks migrations migration_lock uploads creative_origins grant_budgets')
      .split(' ');
  expect(rows.map(({ name }) => name).toSorted()).toEqual(
    [
      ...growingTables,
      ...weeklyTables,
      ...queues,
      ...permanentTables,
      ...foldedTables,
      ...operatorTables,
    ].toSorted(),
  );
});

test('only one process can claim a chore until the claim expires', async () => {
  const claimResults = await Promise.all(
    Array.from({ length: 8 }, () => claimChore(database, 'a chore', 60_000, Date.now())),
  );
  expect(claimResults.filter(Boolean)).toHaveLength(1);
  // Claims are never released; they expire.
  await database.query(
    `UPDATE chores SET begun_at = begun_at - interval '61 seconds' WHERE name = 'a chore'`,
  );
  expect(await claimChore(database, 'a chore', 60_000, Date.now())).toBe(true);
});

test('folding keeps the deltas table small on the embedded database', async () => {
  const dimensions = {
    placement: 'revive',
    creativeId: null,
    sourceId: null,
    advertiserId: null,
    houseAdId: null,
  };
  const counts = Array.from({ length: 200 }, (_, index) => ({
    environment: 'live',
    dimensions,
    atMs: nowMs - index * 3_600_000,
    metric: 'filled',
  }));
  const runRound = async (): Promise<number> => {
    await addToRollups(database, 'acc_1', counts);
    expect(
      await foldRollups(database, new AbortController().signal, (_, error) => {
        throw error;
      }),
    ).toBe(200);
    const [row] = await database.query<{ bytes: number }>(
      `SELECT pg_total_relation_size('rollup_deltas')::bigint AS bytes`,
    );
    return row?.bytes ?? 0;
  };
  const sizes: number[] = [];
  for (let rounds = 0; rounds < 25; rounds += 1) sizes.push(await runRound());
  // Empty index pages are reused one round later. Without a vacuum, the table would grow by 620 kB in 20 rounds.
  expect((sizes.at(-1) ?? Infinity) - (sizes[4] ?? 0)).toBeLessThanOrEqual(3 * 8_192);
  const [sums] = await database.query<{ rows: number; count: number }>(
    `SELECT count(*)::bigint AS rows, sum(count)::bigint AS count FROM rollups WHERE ${ownRows}`,
  );
  expect(sums).toEqual({ rows: 200, count: 25 * 200 });
});

test('roll-ups become daily after two weeks, and reports stay the same', async () => {
  await database.query(`DELETE FROM rollups WHERE ${ownRows}`);
  const scope = { accountId: 'acc_1', environment: 'live' } as const;
  const dimensions = {
    placement: 'p',
    creativeId: null,
    sourceId: null,
    advertiserId: null,
    houseAdId: null,
  };
  const count = (ageHours: number, environment = 'live') => ({
    environment,
    dimensions,
    atMs: nowMs - ageHours * 3_600_000,
    metric: 'filled',
  });
  const ages = Array.from({ length: 20 * 24 }, (_, hour) => hour + 1);
  await addToRollups(database, 'acc_1', [...ages.map((age) => count(age)), count(450, 'sandbox')]);
  await addToRollups(database, 'acc_2', [count(450)]);
  await foldRollups(database, new AbortController().signal, (_, error) => {
    throw error;
  });
  const report = () =>
    readReport(database, scope, {
      fromMs: Math.floor(nowMs / dayMs - 21) * dayMs,
      toMs: nowMs,
      interval: 'day',
      groupBy: ['placement'],
      timeZone: 'UTC',
    });
  const before = await report();
  expect(before.data.reduce((sum, { filled }) => sum + filled, 0)).toBe(20 * 24);
  while (await rollUpDays(database, 'acc_1', nowMs)) continue;
  expect(await rollUpDays(database, 'acc_1', nowMs)).toBe(false);
  expect(await report()).toEqual(before);
  const rows = await database.query<{ account_id: string; rows: number }>(
    `SELECT account_id, count(*)::bigint AS rows FROM rollups WHERE ${ownRows} AND environment = 'live'
      GROUP BY account_id ORDER BY account_id`,
  );
  // Half of the first day, five days, and 14.5 days by hour.
  expect(rows).toEqual([
    { account_id: 'acc_1', rows: 6 + 14.5 * 24 },
    { account_id: 'acc_2', rows: 1 },
  ]);
});

test('the service drops old webhook events and deliveries when it starts', async () => {
  for (const age of [100, 1]) await storeWebhookEvents(age, 3);
  const upkeep = await startUpkeep({
    database,
    clock: createManualClock(nowMs),
    log: pino({ level: 'silent' }),
    tracing: noTracing,
    retention: { decisionsMs: 90 * dayMs, auditMs: undefined, archiveDirectory: undefined },
  });
  for (const table of ['webhook_events', 'finished_deliveries'])
    await expect.poll(() => countRows(table)).toBe(3);
  await upkeep.stop();
});
