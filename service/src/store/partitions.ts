import type { IdKind } from '@trueward/protocol';
import { firstIdAt, readIdTime } from '../platform/ids.ts';
import { readCitusRole } from './citus.ts';
import type { Database, Queries } from './database.ts';

const dayMs = 86_400_000;
export const weekMs = 7 * dayMs;
/** 1970-01-05 was a Monday. */
const firstMondayMs = 4 * dayMs;

/** A partitioned table. */
interface PartitionedTable {
  /** The partition key: a column of ids, which contain their time. */
  column: string;
  ids: IdKind;
  primaryKey: readonly string[];
  /** Whether its weeks are archived. The other tables only repeat, for a webhook, what the archived tables contain. */
  isArchived: boolean;
}

const ofDecisions = { column: 'decision_id', ids: 'decision', isArchived: true } as const;
const tables = {
  decisions: { ...ofDecisions, column: 'id', primaryKey: ['account_id', 'environment', 'id'] },
  timelines: { ...ofDecisions, primaryKey: ['account_id', 'decision_id'] },
  decision_demand: { ...ofDecisions, primaryKey: ['account_id', 'decision_id'] },
  tracker_requests: { ...ofDecisions, primaryKey: ['account_id', 'decision_id', 'tracker'] },
  webhook_events: {
    column: 'id',
    ids: 'webhookEvent',
    primaryKey: ['account_id', 'environment', 'id'],
    isArchived: false,
  },
  finished_deliveries: {
    column: 'id',
    ids: 'delivery',
    primaryKey: ['account_id', 'id'],
    isArchived: false,
  },
} as const satisfies Record<string, PartitionedTable>;
type Table = keyof typeof tables;
const tableNames = Object.keys(tables) as Table[];
/**
 * Storage parameters. The free space on each page is for new versions of its rows. A timeline can double in size: with
 * a fill factor of 50, a fifth of the timelines would move to another page. A tracker request is rewritten only once.
 */
const storage: Partial<Record<Table, string>> = {
  timelines: 'WITH (fillfactor = 40)',
  tracker_requests: 'WITH (fillfactor = 70)',
};

/** One week of one table. */
export interface Week {
  table: Table;
  /** The table and the Monday on which the week begins, such as `decisions_20261116`. */
  name: string;
  fromMs: number;
  /** Whether the week has a partition. Otherwise, its rows are in the default partition. */
  isPartition: boolean;
  /** Whether the week belongs in an archive. */
  isArchived: boolean;
}

/**
 * SQLSTATEs of harmless failures: another process has just created the partition, or the default partition has rows for
 * the week.
 */
const harmlessStates = new Set(['42P07', '23505', '23514']);

/** Creates the partitions for this week and next week. Safe to run in several processes. */
export async function createPartitions(database: Database, nowMs: number): Promise<void> {
  for (const fromMs of [startOfWeek(nowMs), startOfWeek(nowMs) + weekMs]) {
    for (const table of tableNames) {
      const [row] = await database.query<{ exists: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS exists',
        [formatName(table, fromMs)],
      );
      if (row?.exists !== true) await createPartition(database, table, fromMs);
    }
  }
}

async function createPartition(database: Database, table: Table, fromMs: number): Promise<void> {
  const [from, to] = computeBounds(table, fromMs);
  await alterSchema(
    database,
    `CREATE TABLE ${formatName(table, fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')
      ${storage[table] ?? ''}`,
  ).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && harmlessStates.has(String(error.code))) return;
    throw error;
  });
}

/** Lists the weeks that ended before `beforeMs` and have a partition or rows, for all tables, oldest first. */
export async function listWeeks(queries: Queries, beforeMs: number): Promise<Week[]> {
  const weeks: Week[] = [];
  for (const table of tableNames) {
    const { isArchived } = tables[table];
    const rows = await queries.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = to_regclass($1)`,
      [table],
    );
    for (const { name } of rows) {
      const fromMs = parseName(table, name);
      if (fromMs !== undefined) weeks.push({ table, name, fromMs, isPartition: true, isArchived });
    }
    for (const fromMs of await readDefaultWeeks(queries, table, beforeMs))
      weeks.push({
        table,
        name: formatName(table, fromMs),
        fromMs,
        isPartition: false,
        isArchived,
      });
  }
  return weeks
    .filter(({ fromMs }) => fromMs + weekMs <= beforeMs)
    .toSorted((a, b) => a.fromMs - b.fromMs);
}

/**
 * Lists the weeks that have rows in the default partition. Their rows were written when the week had no partition, for
 * example by an import.
 */
async function readDefaultWeeks(
  queries: Queries,
  table: Table,
  beforeMs: number,
): Promise<number[]> {
  const weeks: number[] = [];
  const { column, ids } = tables[table];
  let from = '';
  for (;;) {
    const [row] = await queries.query<{ id: string | null }>(
      `SELECT min(${column}) AS id FROM ${table}_other WHERE ${column} >= $1 AND ${column} < $2`,
      [from, firstIdAt(ids, beforeMs)],
    );
    if (row?.id == null) return weeks;
    const fromMs = startOfWeek(readIdTime(row.id));
    if (weeks.includes(fromMs)) return weeks; // The id contains no valid time.
    weeks.push(fromMs);
    [, from] = computeBounds(table, fromMs);
  }
}

/** Returns a query that selects a week's rows. */
export function selectWeek({ table, fromMs }: Week): string {
  const [from, to] = computeBounds(table, fromMs);
  const { column } = tables[table];
  return `SELECT * FROM ${table} WHERE ${column} >= '${from}' AND ${column} < '${to}'`;
}

/** Returns the columns of a table's primary key, in order. */
export const listKeyColumns = (table: Table): readonly string[] => tables[table].primaryKey;

/** Drops all of a week's rows. Keeps the roll-ups. */
export async function dropWeek(database: Database, week: Week): Promise<void> {
  if (week.isPartition) return alterSchema(database, `DROP TABLE IF EXISTS ${week.name}`);
  const [from, to] = computeBounds(week.table, week.fromMs);
  const { column } = tables[week.table];
  return database.transaction(
    async (queries) =>
      void (await queries.query(
        `DELETE FROM ${week.table}_other WHERE ${column} >= $1 AND ${column} < $2`,
        [from, to],
      )),
    { noTimeout: true },
  );
}

/**
 * Analyzes partitions that have no statistics. Without statistics, the planner scans all of an account's rows for the
 * week to find one player's ads. A server analyzes a new partition within a minute, but the embedded database never
 * does.
 */
export async function analyzePartitions(database: Database): Promise<void> {
  // On Citus, these tables are empty and have no statistics of their own. Autovacuum analyzes their shards.
  if ((await readCitusRole(database)) !== undefined) return;
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS name) AND reltuples <= 0`,
    [tableNames],
  );
  for (const { name } of rows) await database.query(`ANALYZE ${name}`);
}

/**
 * Runs a schema change. While the change waits for a lock, it blocks every later statement on the table, so it fails
 * after a short timeout and is retried later.
 */
const alterSchema = (database: Database, statement: string): Promise<void> =>
  (database.schema ?? database).transaction(async (queries: Queries) => {
    await queries.query(`SET LOCAL lock_timeout = '1s'`);
    await queries.query(statement);
  });

const startOfWeek = (ms: number): number =>
  Math.floor((ms - firstMondayMs) / weekMs) * weekMs + firstMondayMs;

/** Returns a table's first id of a week, and the first id after it. */
const computeBounds = (table: Table, fromMs: number): [string, string] => [
  firstIdAt(tables[table].ids, Math.max(0, fromMs)),
  firstIdAt(tables[table].ids, fromMs + weekMs),
];

const formatName = (table: string, fromMs: number): string =>
  `${table}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

function parseName(table: string, name: string): number | undefined {
  const match = new RegExp(`^${table}_(\\d{4})(\\d\\d)(\\d\\d)$`).exec(name);
  return match ? Date.parse(`${match[1]}-${match[2]}-${match[3]}`) : undefined;
}
