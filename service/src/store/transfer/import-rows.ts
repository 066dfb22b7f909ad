import type { Database, Queries } from '../database.ts';
import type { CheckedExport } from './check-export.ts';
import { differences, parseRow, type RowLine, type Tally, TransferError } from './format.ts';
import { readTables, sameTextEverywhere, tallyTable } from './tables.ts';

const rowsAtOnce = 500;
const rowsPerCommit = 5_000;

/**
 * Takes in an export, a part at a time: one that was broken off goes on where it was. At the end
 * every table is counted and compared; until then no service starts on the database.
 *
 * @throws TransferError when the database has other rows, or differs from the file at the end.
 */
export async function importRows(
  database: Database,
  file: CheckedExport,
  lines: AsyncIterable<string>,
  onProgress: (rows: number) => void,
): Promise<void> {
  const tables = await readTables(database);
  const unknown = Object.keys(file.tables).find((table) => !tables.includes(table));
  if (unknown !== undefined) throw new TransferError(`There is no table ${unknown} here.`);
  const already = await begin(database, tables, file.id);
  let count = 0;
  let part: RowLine[] = [];
  const commit = async (): Promise<void> => {
    await writePart(database, part, count);
    part = [];
    onProgress(count);
  };
  for await (const text of lines) {
    const line = parseRow(text);
    if (!line) continue; // the first and the last line
    count += 1;
    if (count <= already) continue;
    part.push(line);
    if (part.length === rowsPerCommit) await commit();
  }
  await commit();
  await finish(database, tables, file);
}

/**
 * Refuses a database on which an import was begun and not finished.
 *
 * @throws TransferError
 */
export async function refuseUnfinishedImport(database: Database): Promise<void> {
  if ((await readProgress(database)) === undefined) return;
  throw new TransferError(
    'An import into this database was broken off: run the same import again, and it goes on.',
  );
}

async function readProgress(queries: Queries) {
  const [row] = await queries.query<{ there: boolean }>(
    `SELECT to_regclass('import_progress') IS NOT NULL AS there`,
  );
  if (row?.there !== true) return undefined;
  const [progress] = await queries.query<{ export_id: string; rows: number }>(
    'SELECT export_id, rows FROM import_progress',
  );
  return progress;
}

/** Hands back how many rows of this export are there already. */
async function begin(database: Database, tables: readonly string[], id: string): Promise<number> {
  const progress = await readProgress(database);
  if (progress?.export_id === id) return progress.rows;
  if (progress) {
    throw new TransferError(
      'The database holds a part of another export: import that one to its end, or take an empty database.',
    );
  }
  await refuseRows(database, tables);
  await database.transaction(async (queries) => {
    await queries.query(
      'CREATE TABLE import_progress (account_id text PRIMARY KEY, export_id text NOT NULL, rows bigint NOT NULL)',
    );
    await queries.query(`INSERT INTO import_progress VALUES ('service', $1, 0)`, [id]);
  });
  return 0;
}

function writePart(database: Database, part: readonly RowLine[], count: number): Promise<void> {
  return database.transaction(
    async (queries) => {
      for (const [table, rows] of groupByTable(part)) {
        for (let start = 0; start < rows.length; start += rowsAtOnce) {
          await queries.query(
            `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
            [`[${rows.slice(start, start + rowsAtOnce).join(',')}]`],
          );
        }
      }
      await queries.query('UPDATE import_progress SET rows = $1', [count]);
    },
    { unhurried: true },
  );
}

function groupByTable(part: readonly RowLine[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { table, row } of part) {
    const group = groups.get(table);
    if (group) group.push(row);
    else groups.set(table, [row]);
  }
  return groups;
}

/** Whoever had leased deliveries is not here. */
const endLeases = 'UPDATE deliveries SET lease_until = NULL WHERE lease_until IS NOT NULL';

function finish(database: Database, tables: readonly string[], file: CheckedExport): Promise<void> {
  return database.transaction(
    async (queries) => {
      await queries.query(sameTextEverywhere);
      const there: Record<string, Tally> = {};
      for (const table of tables) there[table] = await tallyTable(queries, table);
      const different = differences(there, file.tables);
      if (different.length > 0) {
        throw new TransferError(
          `The database differs from the file in ${different.join(', ')}: something else wrote to it. Import again, into an empty database.`,
        );
      }
      await queries.query(endLeases);
      await queries.query('DROP TABLE import_progress');
    },
    { unhurried: true },
  );
}

async function refuseRows(queries: Queries, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const [row] = await queries.query<{ used: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM ${table}) AS used`,
    );
    if (row?.used === true) {
      throw new TransferError(
        `The database is not empty (${table} has rows): take a new TRUEWARD_DATA_DIR or an empty DATABASE_URL.`,
      );
    }
  }
}
