import type { Database, Queries } from './database.ts';
import { migrationNames } from './migrate.ts';

/** The file cannot be taken in; nothing of it was. */
export class TransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TransferError';
  }
}

/** First line of an export. */
interface Header {
  trueward_export: 1;
  migrations: string[];
}
/** Every other line but the last, which says how many rows there are: a cut file is noticed. */
interface Line {
  table: string;
  row: object;
}

const rowsAtOnce = 500;

/** Every table that holds data; what a migration adds is among them without being listed here. */
const readTables = async (queries: Queries): Promise<string[]> =>
  (
    await queries.query<{ name: string }>(
      `SELECT quote_ident(tablename) AS name FROM pg_tables
        WHERE schemaname = current_schema() AND tablename NOT IN ('migrations', 'migration_lock')
        ORDER BY tablename`,
    )
  ).map(({ name }) => name);

/** Writes all rows as JSON lines, as they are at one moment, and hands back how many; others may write meanwhile. */
export function exportRows(
  database: Database,
  write: (line: string) => Promise<void>,
  onProgress: (rows: number) => void,
): Promise<number> {
  return database.transaction(async (queries) => {
    await queries.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    const header: Header = { trueward_export: 1, migrations: migrationNames() };
    await write(JSON.stringify(header));
    let count = 0;
    for (const table of await readTables(queries)) {
      await queries.query(
        `DECLARE exported NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${table} t`,
      );
      for (;;) {
        const rows = await queries.query<{ row: string }>(`FETCH ${rowsAtOnce} FROM exported`);
        for (const { row } of rows) await write(`{"table":${JSON.stringify(table)},"row":${row}}`);
        count += rows.length;
        onProgress(count);
        if (rows.length < rowsAtOnce) break;
      }
      await queries.query('CLOSE exported');
    }
    await write(JSON.stringify({ rows: count }));
    return count;
  });
}

interface ImportOptions {
  onProgress(rows: number): void;
  /** Looks at the rows before they are committed; a rejection takes them all back. */
  check(queries: Queries): Promise<void>;
}

/**
 * Takes in what {@link exportRows} wrote, in one transaction: all of it or nothing.
 *
 * @throws TransferError when the file is none of ours, is cut, or the database is not empty.
 */
export function importRows(
  database: Database,
  lines: AsyncIterable<string>,
  { onProgress, check }: ImportOptions,
): Promise<number> {
  return database.transaction(async (queries) => {
    const tables = await readTables(queries);
    await refuseRows(queries, tables);
    const batch: Line[] = [];
    const flush = async (): Promise<void> => {
      const [first] = batch;
      if (!first) return;
      const rows = JSON.stringify(batch.splice(0).map(({ row }) => row));
      await queries.query(
        `INSERT INTO ${first.table} SELECT * FROM jsonb_populate_recordset(NULL::${first.table}, $1::text::jsonb)`,
        [rows],
      );
    };
    let [number, count] = [0, 0];
    let promised: number | undefined;
    for await (const text of lines) {
      number += 1;
      const line = parse(text, number);
      if (number === 1) refuseHeader(line);
      else if ('rows' in line) promised = Number(line['rows']);
      else {
        const { table } = line as unknown as Line;
        if (!tables.includes(table)) throw new TransferError(`Line ${number} names no table.`);
        if (batch.length >= rowsAtOnce || batch[0]?.table !== table) await flush();
        batch.push(line as unknown as Line);
        count += 1;
        onProgress(count);
      }
    }
    await flush();
    if (promised !== count) {
      throw new TransferError(`The file is cut: it has ${count} rows of ${promised ?? 'more'}.`);
    }
    await queries.query('UPDATE deliveries SET lease_until = NULL WHERE lease_until IS NOT NULL');
    await check(queries);
    return count;
  });
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

function parse(text: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // It is told below, with its line.
  }
  throw new TransferError(`Line ${number} is not what an export writes.`);
}

function refuseHeader(header: Record<string, unknown>): void {
  if (header['trueward_export'] !== 1) {
    throw new TransferError('The file is not an export of trueward-service.');
  }
  const [theirs, ours] = [JSON.stringify(header['migrations']), JSON.stringify(migrationNames())];
  if (theirs !== ours) {
    throw new TransferError(
      `The file was written with other tables (${theirs}, this version has ${ours}): import it with the version that wrote it, then start the new one.`,
    );
  }
}
