import { firstIdAt, timeOfId } from '../platform/ids.ts';
import type { Database, Queries } from './database.ts';

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** 1970-01-05 was a Monday. */
const firstMondayMs = 4 * dayMs;

/** The partitioned tables, and the column by whose id they are. */
const tables = { decisions: 'id', ad_events: 'decision_id', timelines: 'decision_id' } as const;
type Table = keyof typeof tables;
const tableNames = Object.keys(tables) as Table[];
/** A timeline doubles in size, and needs room for its versions on the way: with 50, a fifth leaves its page. */
const storage: Partial<Record<Table, string>> = { timelines: 'WITH (fillfactor = 40)' };

/** The rows of one table of one week. */
export interface Week {
  table: Table;
  /** `decisions_20261116`, by the Monday on which it begins. */
  name: string;
  fromMs: number;
  /** False where its rows lie among those of other weeks. */
  isPartition: boolean;
}

/** Another process made it a moment ago, or there are rows of that week already. */
const takenStates = new Set(['42P07', '23505', '23514']);

/**
 * Makes the partitions of this week and of the next one. Every process does so, now and then; none
 * has to be the first.
 */
export async function makePartitions(database: Database, nowMs: number): Promise<void> {
  for (const fromMs of [startOfWeek(nowMs), startOfWeek(nowMs) + weekMs]) {
    for (const table of tableNames) {
      const [row] = await database.query<{ there: boolean }>(
        'SELECT to_regclass($1) IS NOT NULL AS there',
        [nameOf(table, fromMs)],
      );
      if (row?.there !== true) await makePartition(database, table, fromMs);
    }
  }
}

async function makePartition(database: Database, table: Table, fromMs: number): Promise<void> {
  const [from, to] = boundsOf(fromMs);
  await change(
    database,
    `CREATE TABLE ${nameOf(table, fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${from}') TO ('${to}')
      ${storage[table] ?? ''}`,
  ).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && takenStates.has(String(error.code))) return;
    throw error;
  });
}

/** The weeks that have a partition or rows and ended by `beforeMs`, the oldest first; of each week all tables. */
export async function listWeeks(queries: Queries, beforeMs: number): Promise<Week[]> {
  const weeks: Week[] = [];
  for (const table of tableNames) {
    const rows = await queries.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = to_regclass($1)`,
      [table],
    );
    for (const { name } of rows) {
      const fromMs = readName(table, name);
      if (fromMs !== undefined) weeks.push({ table, name, fromMs, isPartition: true });
    }
    for (const fromMs of await readOtherWeeks(queries, table, beforeMs))
      weeks.push({ table, name: nameOf(table, fromMs), fromMs, isPartition: false });
  }
  return weeks
    .filter(({ fromMs }) => fromMs + weekMs <= beforeMs)
    .toSorted((a, b) => a.fromMs - b.fromMs);
}

/** The weeks of rows that came when their week had no partition, as after an import. */
async function readOtherWeeks(queries: Queries, table: Table, beforeMs: number): Promise<number[]> {
  const weeks: number[] = [];
  let from = '';
  for (;;) {
    const [row] = await queries.query<{ id: string | null }>(
      `SELECT min(${tables[table]}) AS id FROM ${table}_other WHERE ${tables[table]} >= $1 AND ${tables[table]} < $2`,
      [from, firstIdAt('decision', beforeMs)],
    );
    if (row?.id == null) return weeks;
    const fromMs = startOfWeek(timeOfId(row.id));
    if (weeks.includes(fromMs)) return weeks; // an id that is none of ours
    weeks.push(fromMs);
    [, from] = boundsOf(fromMs);
  }
}

/** What selects the rows of a week; with nothing but its partition read, where it has one. */
export function selectWeek({ table, fromMs }: Week): string {
  const [from, to] = boundsOf(fromMs);
  return `SELECT * FROM ${table} WHERE ${tables[table]} >= '${from}' AND ${tables[table]} < '${to}'`;
}

/** Drops all rows of a week for good. Sums for reports stay. */
export async function dropWeek(database: Database, week: Week): Promise<void> {
  if (week.isPartition) return change(database, `DROP TABLE IF EXISTS ${week.name}`);
  const [from, to] = boundsOf(week.fromMs);
  const column = tables[week.table];
  return database.transaction(
    async (queries) =>
      void (await queries.query(
        `DELETE FROM ${week.table}_other WHERE ${column} >= $1 AND ${column} < $2`,
        [from, to],
      )),
    { unhurried: true },
  );
}

/**
 * Lets the database look at partitions of which it does not know yet what is in them. Until then it
 * reads an account's whole week to find one user's ads. A server looks by itself within a minute of
 * the first rows; the embedded database never does.
 */
export async function analyzePartitions(database: Database): Promise<void> {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS name) AND reltuples <= 0`,
    [tableNames],
  );
  for (const { name } of rows) await database.query(`ANALYZE ${name}`);
}

/** Whoever waits to change a table makes everybody else wait; so this one gives up soon, and comes again. */
const change = (database: Database, statement: string): Promise<void> =>
  database.transaction(async (queries: Queries) => {
    await queries.query(`SET LOCAL lock_timeout = '1s'`);
    await queries.query(statement);
  });

const startOfWeek = (ms: number): number =>
  Math.floor((ms - firstMondayMs) / weekMs) * weekMs + firstMondayMs;

/** The first id of the week and the first one after it. */
const boundsOf = (fromMs: number): [string, string] => [
  firstIdAt('decision', Math.max(0, fromMs)),
  firstIdAt('decision', fromMs + weekMs),
];

const nameOf = (table: string, fromMs: number): string =>
  `${table}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;

function readName(table: string, name: string): number | undefined {
  const match = new RegExp(`^${table}_(\\d{4})(\\d\\d)(\\d\\d)$`).exec(name);
  return match ? Date.parse(`${match[1]}-${match[2]}-${match[3]}`) : undefined;
}
