import { createHash } from 'node:crypto';
import { createRest } from '../platform/create-rest.ts';
import type { Database } from '../store/database.ts';
import { listKeyColumns, selectWeek, type Week } from '../store/partitions.ts';

/** The number of rows, and the sum of their digests, which doesn't depend on row order. */
export interface Tally {
  rows: number;
  checksum: string;
}

/**
 * Number of leading hex digits of each digest that count toward the checksum. They form a 60-bit number, which fits
 * into a `bigint`.
 */
const digestDigits = 15;

/**
 * Number of rows per statement. Each statement has its own snapshot, because a snapshot of the whole week would keep
 * the server from removing the dead rows of every other table for minutes. This is possible because old weeks don't
 * change.
 */
const rowsPerChunk = 5_000;

/** Reads all rows of a week as JSON text. */
export async function* readWeekRows(database: Database, week: Week): AsyncGenerator<string> {
  const chunks = readChunks<string[] | null>(database, week, 'json_agg(line)');
  for await (const lines of chunks) yield* lines ?? [];
}

/** Computes the tally of a week in the database. Returns the same result as {@link createTally}. */
export async function tallyWeek(database: Database, week: Week): Promise<Tally> {
  let [rows, checksum] = [0, 0n];
  const chunks = readChunks<Tally>(
    database,
    week,
    `json_build_object('rows', count(*), 'checksum', coalesce(sum(
      ('x' || left(encode(sha256(convert_to(line, 'UTF8')), 'hex'), ${digestDigits}))::bit(${digestDigits * 4})::bigint
    ), 0)::text)`,
  );
  for await (const chunk of chunks) {
    rows += chunk.rows;
    checksum += BigInt(chunk.checksum);
  }
  return { rows, checksum: String(checksum) };
}

interface Chunk {
  value: unknown;
  /** The primary key of the chunk's last row. Null if there are no more rows. */
  last: string[] | null;
}

/** Computes an aggregate over each chunk of the week's rows. `line` is a row's JSON text. */
async function* readChunks<Value extends object | null>(
  database: Database,
  week: Week,
  aggregate: string,
): AsyncGenerator<Value> {
  const columns = listKeyColumns(week.table);
  const key = columns.join(', ');
  const after = columns.map((_, index) => `$${index + 1}`).join(', ');
  const query = (condition: string): string =>
    `WITH chunk AS MATERIALIZED (
        SELECT row_to_json(t)::text AS line, ${key} FROM (${selectWeek(week)}) t ${condition}
          ORDER BY ${key} LIMIT ${rowsPerChunk})
      SELECT ${aggregate} AS value, (SELECT json_build_array(${key}) FROM chunk
          ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')} LIMIT 1) AS last FROM chunk`;
  let last: string[] | null = null;
  const rest = createRest();
  do {
    const key: string[] = last ?? [];
    const statement = query(last === null ? '' : `WHERE (${columns.join(', ')}) > (${after})`);
    const [chunk] = await database.transaction(
      async (queries) => {
        // All servers then return the same text for a row.
        await queries.query(`SET LOCAL timezone = 'UTC'`);
        return queries.query<Chunk>(statement, key);
      },
      { noTimeout: true },
    );
    if (chunk) yield chunk.value as Value;
    last = chunk?.last ?? null;
    if (last !== null) await rest();
  } while (last !== null);
}

/** Creates an object that tallies rows of JSON text. Returns the same result as {@link tallyWeek}. */
export function createTally() {
  let [rows, sum] = [0, 0n];
  return {
    add(row: string): void {
      rows += 1;
      sum += BigInt(`0x${createHash('sha256').update(row).digest('hex').slice(0, digestDigits)}`);
    },
    result: (): Tally => ({ rows, checksum: String(sum) }),
  };
}

export const isSameTally = (a: Tally | undefined, b: Tally | undefined): boolean =>
  a?.rows === b?.rows && a?.checksum === b?.checksum;
