import type { Database } from '../database.ts';
import { createTally, formatRow, header, type Trailer } from './format.ts';
import { readTables, sameTextEverywhere } from './tables.ts';

interface ExportOptions {
  /** Tells this export from every other one. */
  id: string;
  write(line: string): Promise<void>;
  onProgress(rows: number): void;
}

const rowsAtOnce = 500;

/**
 * Writes all rows as JSON lines, as they are at one moment, and hands back how many; others may
 * write meanwhile. One that was broken off is started again, because its moment is over.
 */
export function exportRows(
  database: Database,
  { id, write, onProgress }: ExportOptions,
): Promise<number> {
  return database.transaction(
    async (queries) => {
      await queries.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await queries.query(sameTextEverywhere);
      await write(JSON.stringify(header(id)));
      const tally = createTally();
      let count = 0;
      for (const table of await readTables(queries)) {
        tally.start(table);
        await queries.query(
          `DECLARE exported NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${table} t`,
        );
        for (;;) {
          const rows = await queries.query<{ row: string }>(`FETCH ${rowsAtOnce} FROM exported`);
          for (const { row } of rows) {
            tally.add({ table, row });
            await write(formatRow({ table, row }));
          }
          count += rows.length;
          onProgress(count);
          if (rows.length < rowsAtOnce) break;
        }
        await queries.query('CLOSE exported');
      }
      const trailer: Trailer = { tables: tally.result() };
      await write(JSON.stringify(trailer));
      return count;
    },
    { unhurried: true },
  );
}
