import { firstIdAt } from '../platform/ids.ts';
import type { Database, Queries } from './database.ts';

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** 1970-01-05 was a Monday. */
const firstMondayMs = 4 * dayMs;

/** The partitioned tables, and the column by whose id they are. */
const tables = { decisions: 'id', ad_events: 'decision_id' } as const;

/** Another process made it a moment ago, or there are rows of that week already. */
const takenStates = new Set(['42P07', '23505', '23514']);

/**
 * Makes the partitions of this week and of the next one. Every process does so, now and then; none
 * has to be the first.
 */
export async function makePartitions(database: Database, nowMs: number): Promise<void> {
  for (const fromMs of [startOfWeek(nowMs), startOfWeek(nowMs) + weekMs]) {
    for (const table of Object.keys(tables)) {
      const [row] = await database.query<{ there: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS there',
        [nameOf(table, fromMs)],
      );
      if (row?.there !== true) await makePartition(database, table, fromMs);
    }
  }
}

async function makePartition(database: Database, table: string, fromMs: number): Promise<void> {
  const [from, to] = [fromMs, fromMs + weekMs].map((ms) => firstIdAt('decision', ms));
  await change(
    database,
    `CREATE TABLE ${nameOf(table, fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')`,
  ).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && takenStates.has(String(error.code))) return;
    throw error;
  });
}

/**
 * Drops the weeks that ended before `beforeMs`, and hands back the names of what is gone. Sums for
 * reports stay.
 */
export async function dropPartitions(database: Database, beforeMs: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const [table, column] of Object.entries(tables)) {
    const rows = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = to_regclass($1) ORDER BY relname`,
      [table],
    );
    for (const { name } of rows) {
      const fromMs = readName(table, name);
      if (fromMs === undefined || fromMs + weekMs > beforeMs) continue;
      await change(database, `DROP TABLE IF EXISTS ${name}`);
      dropped.push(name);
    }
    // Rows of weeks that never had a partition.
    await database.query(`DELETE FROM ${table}_other WHERE ${column} < $1`, [
      firstIdAt('decision', startOfWeek(beforeMs)),
    ]);
  }
  return dropped;
}

/** Whoever waits to change a table makes everybody else wait; so this one gives up soon, and comes again. */
const change = (database: Database, statement: string): Promise<void> =>
  database.transaction(async (queries: Queries) => {
    await queries.query(`SET LOCAL lock_timeout = '1s'`);
    await queries.query(statement);
  });

const startOfWeek = (ms: number): number =>
  Math.floor((ms - firstMondayMs) / weekMs) * weekMs + firstMondayMs;

/** `decisions_20261116`, by the Monday on which it begins. */
const nameOf = (table: string, fromMs: number): string =>
  `${table}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

function readName(table: string, name: string): number | undefined {
  const match = new RegExp(`^${table}_(\\d{4})(\\d\\d)(\\d\\d)$`).exec(name);
  return match ? Date.parse(`${match[1]}-${match[2]}-${match[3]}`) : undefined;
}
