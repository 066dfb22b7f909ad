import type { Queries } from '../database.ts';

const rowsAtOnce = 500;

/** All rows of a table, or of a query in parentheses, as the database writes them in JSON; in a transaction. */
export async function* readRows(queries: Queries, source: string): AsyncGenerator<string> {
  await queries.query(
    `DECLARE read_rows NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${source} t`,
  );
  for (;;) {
    const rows = await queries.query<{ row: string }>(`FETCH ${rowsAtOnce} FROM read_rows`);
    for (const { row } of rows) yield row;
    if (rows.length < rowsAtOnce) break;
  }
  await queries.query('CLOSE read_rows');
}
