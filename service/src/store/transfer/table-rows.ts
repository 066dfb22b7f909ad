import { createHash } from 'node:crypto';
import type { Queries } from '../database.ts';

/** The number of rows, and the sum of their digests, which doesn't depend on row order. */
export interface Tally {
  rows: number;
  checksum: string;
}

/** The tally of each table. */
export type Tallies = Record<string, Tally>;

/**
 * Number of leading hex digits of each digest that count toward the checksum. They form a 60-bit number, which fits
 * into a `bigint`.
 */
const digestDigits = 15;

/** Reads the quoted names of all tables, except those for migrations and imports. */
export const readTables = async (queries: Queries): Promise<string[]> =>
  (
    await queries.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND relname NOT IN ('migrations', 'migration_lock', 'import_progress')
        ORDER BY relname`,
    )
  ).map(({ name }) => name);

/** Sets the time zone, so that all servers return the same text for a row. */
export const useUtc = `SET LOCAL timezone = 'UTC'`;

const rowsPerFetch = 500;

/** Reads all rows of a table, or of a query in parentheses, as JSON text. Must run in a transaction. */
export async function* readRows(queries: Queries, source: string): AsyncGenerator<string> {
  await queries.query(
    `DECLARE read_rows NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${source} t`,
  );
  for (;;) {
    const rows = await queries.query<{ row: string }>(`FETCH ${rowsPerFetch} FROM read_rows`);
    for (const { row } of rows) yield row;
    if (rows.length < rowsPerFetch) break;
  }
  await queries.query('CLOSE read_rows');
}

/**
 * Computes the tally of a table, or of a query in parentheses, in the database. Returns the same result as {@link
 * createTally}.
 */
export async function tallyTable(queries: Queries, source: string): Promise<Tally> {
  const [tally] = await queries.query<Tally>(
    `SELECT count(*)::bigint AS rows, coalesce(sum(
        ('x' || left(encode(sha256(convert_to(row_to_json(t)::text, 'UTF8')), 'hex'), ${digestDigits}))::bit(${digestDigits * 4})::bigint
      ), 0)::text AS checksum FROM ${source} t`,
  );
  if (!tally) throw new Error(`The tally query for ${source} returned no row.`);
  return tally;
}

/** Creates an object that tallies rows by table. Returns the same results as {@link tallyTable}. */
export function createTally() {
  const tables = new Map<string, { rows: number; sum: bigint }>();
  return {
    add(table: string, row: string): void {
      const tally = tables.get(table) ?? { rows: 0, sum: 0n };
      const digest = createHash('sha256').update(row).digest('hex').slice(0, digestDigits);
      tally.rows += 1;
      tally.sum += BigInt(`0x${digest}`);
      tables.set(table, tally);
    },
    /** Adds a table without rows. */
    start(table: string): void {
      tables.set(table, { rows: 0, sum: 0n });
    },
    result: (): Tallies =>
      Object.fromEntries(
        [...tables].map(([table, { rows, sum }]) => [table, { rows, checksum: String(sum) }]),
      ),
  };
}

export const isSameTally = (a: Tally | undefined, b: Tally | undefined): boolean =>
  a?.rows === b?.rows && a?.checksum === b?.checksum;

/** Returns the names of the tables that differ. */
export const findDifferences = (a: Tallies, b: Tallies): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (table) => !isSameTally(a[table], b[table]),
  );
