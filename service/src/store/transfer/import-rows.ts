import type { Database, Queries } from '../database.ts';
import { type CheckedExport, parseRow, type RowLine, TransferError } from './export-file.ts';
import { findDifferences, readTables, type Tallies, tallyTable, useUtc } from './table-rows.ts';

const rowsPerInsert = 500;
const rowsPerCommit = 5_000;

/**
 * Imports an export in batches. Resumes an interrupted import of the same export. At the end, compares every table with
 * the file. The service can't use the database until this comparison has succeeded.
 *
 * @throws TransferError when the database isn't empty at the start, or differs from the file at the end.
 */
export async function importRows(
  database: Database,
  file: CheckedExport,
  lines: AsyncIterable<string>,
  onProgress: (rows: number) => void,
): Promise<void> {
  const tables = await readTables(database);
  const unknownTable = Object.keys(file.tables).find((table) => !tables.includes(table));
  if (unknownTable !== undefined)
    throw new TransferError(`This database has no ${unknownTable} table.`);
  const importedRows = await beginImport(database, tables, file.id);
  let count = 0;
  let batch: RowLine[] = [];
  const commit = async (): Promise<void> => {
    await writeBatch(database, batch, count);
    batch = [];
    onProgress(count);
  };
  for await (const text of lines) {
    const line = parseRow(text);
    if (!line) continue; // header and trailer
    count += 1;
    if (count <= importedRows) continue;
    batch.push(line);
    if (batch.length === rowsPerCommit) await commit();
  }
  await commit();
  await finishImport(database, tables, file);
}

/** @throws TransferError when an import into the database is incomplete. */
export async function rejectUnfinishedImport(database: Database): Promise<void> {
  if ((await readProgress(database)) === undefined) return;
  throw new TransferError(
    'An import into this database is incomplete. Run the same import again to resume it.',
  );
}

async function readProgress(queries: Queries) {
  const [row] = await queries.query<{ exists: boolean }>(
    `SELECT to_regclass('import_progress') IS NOT NULL AS exists`,
  );
  if (row?.exists !== true) return undefined;
  const [progress] = await queries.query<{ export_id: string; rows: number }>(
    'SELECT export_id, rows FROM import_progress',
  );
  return progress;
}

/** Starts or resumes an import. Returns the number of rows that have been imported. */
async function beginImport(
  database: Database,
  tables: readonly string[],
  id: string,
): Promise<number> {
  const progress = await readProgress(database);
  if (progress?.export_id === id) return progress.rows;
  if (progress) {
    throw new TransferError(
      'The database contains part of another export. Finish that import, or use an empty database.',
    );
  }
  await requireEmpty(database, tables);
  await database.transaction(async (queries) => {
    await queries.query(
      'CREATE TABLE import_progress (account_id text PRIMARY KEY, export_id text NOT NULL, rows bigint NOT NULL)',
    );
    await queries.query(`INSERT INTO import_progress VALUES ('service', $1, 0)`, [id]);
  });
  return 0;
}

function writeBatch(database: Database, batch: readonly RowLine[], count: number): Promise<void> {
  return database.transaction(
    async (queries) => {
      for (const [table, rows] of groupByTable(batch)) {
        for (let start = 0; start < rows.length; start += rowsPerInsert) {
          await queries.query(
            `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
            [`[${rows.slice(start, start + rowsPerInsert).join(',')}]`],
          );
        }
      }
      await queries.query('UPDATE import_progress SET rows = $1', [count]);
    },
    { noTimeout: true },
  );
}

function groupByTable(batch: readonly RowLine[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { table, row } of batch) {
    const group = groups.get(table);
    if (group) group.push(row);
    else groups.set(table, [row]);
  }
  return groups;
}

/**
 * Ends delivery leases, because they belong to processes that use the exported database. Tracker-request leases stay
 * until they expire: such a request may have been sent, and most must not be sent twice.
 */
const endLeasesSql = 'UPDATE deliveries SET lease_until = NULL WHERE lease_until IS NOT NULL';

function finishImport(
  database: Database,
  tables: readonly string[],
  file: CheckedExport,
): Promise<void> {
  return database.transaction(
    async (queries) => {
      await queries.query(useUtc);
      const tallies: Tallies = {};
      for (const table of tables) tallies[table] = await tallyTable(queries, table);
      const differentTables = findDifferences(tallies, file.tables);
      if (differentTables.length > 0) {
        throw new TransferError(
          `The database differs from the file in ${differentTables.join(', ')}, because something else wrote to it. Import again into an empty database.`,
        );
      }
      await queries.query(endLeasesSql);
      await queries.query('DROP TABLE import_progress');
    },
    { noTimeout: true },
  );
}

async function requireEmpty(queries: Queries, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const [row] = await queries.query<{ used: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM ${table}) AS used`,
    );
    if (row?.used === true) {
      throw new TransferError(
        `The database is not empty (${table} has rows). Use a new TRUEWARD_DATA_DIR or an empty DATABASE_URL.`,
      );
    }
  }
}
