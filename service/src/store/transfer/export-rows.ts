import type { Database } from '../database.ts';
import { createTally, formatRow, header, type Trailer } from './format.ts';
import { readRows } from './read-rows.ts';
import { readTables, sameTextEverywhere } from './tables.ts';

interface ExportOptions {
  /** Tells this export from every other one. */
  id: string;
  write(line: string): Promise<void>;
  onProgress(rows: number): void;
}

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
        for await (const row of readRows(queries, table)) {
          tally.add({ table, row });
          await write(formatRow({ table, row }));
          count += 1;
          onProgress(count);
        }
      }
      const trailer: Trailer = { tables: tally.result() };
      await write(JSON.stringify(trailer));
      return count;
    },
    { unhurried: true },
  );
}
