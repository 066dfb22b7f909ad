import type { Queries } from '../database.ts';
import { digestDigits, type Tally } from './format.ts';

/** Every table that holds data, quoted; what a migration adds is among them without being listed here. */
export const readTables = async (queries: Queries): Promise<string[]> =>
  (
    await queries.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND relname NOT IN ('migrations', 'migration_lock', 'import_progress')
        ORDER BY relname`,
    )
  ).map(({ name }) => name);

/** Otherwise a time is written as it is shown in the time zone of the server. */
export const sameTextEverywhere = `SET LOCAL timezone = 'UTC'`;

/** What is in a table, or in a query in parentheses, as {@link createTally} counts it. */
export async function tallyTable(queries: Queries, table: string): Promise<Tally> {
  const [tally] = await queries.query<Tally>(
    `SELECT count(*)::bigint AS rows, coalesce(sum(
        ('x' || left(encode(sha256(convert_to(row_to_json(t)::text, 'UTF8')), 'hex'), ${digestDigits}))::bit(${digestDigits * 4})::bigint
      ), 0)::text AS checksum FROM ${table} t`,
  );
  if (!tally) throw new Error(`${table} could not be counted.`);
  return tally;
}
