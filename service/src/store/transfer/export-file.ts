import type { Database } from '../database.ts';
import { migrationNames } from '../migrate.ts';
import {
  createTally,
  findDifferences,
  readRows,
  readTables,
  type Tallies,
  useUtc,
} from './table-rows.ts';

/** Thrown when a file can't be imported into a database. The message contains the reason. */
export class TransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TransferError';
  }
}

/** The first line of an export. */
interface Header {
  trueward_export: 2;
  /** Identifies this export. */
  id: string;
  migrations: string[];
}

/** The last line of an export. A file without it is truncated. */
interface Trailer {
  tables: Tallies;
}

/** A line between the header and the trailer. The row is JSON text from the database. */
export interface RowLine {
  table: string;
  row: string;
}

const formatRow = ({ table, row }: RowLine): string =>
  `{"table":${JSON.stringify(table)},"row":${row}}`;

const rowPattern = /^\{"table":("[^"]+(?:\\"[^"]*)*"),"row":(.*)\}$/;

/** Parses a line. Returns undefined for the header and the trailer. */
export function parseRow(text: string): RowLine | undefined {
  const [, table, row] = rowPattern.exec(text) ?? [];
  return table === undefined || row === undefined
    ? undefined
    : { table: JSON.parse(table) as string, row };
}

interface ExportOptions {
  /** Identifies this export. */
  id: string;
  write(line: string): Promise<void>;
  onProgress(rows: number): void;
}

/**
 * Writes a consistent snapshot of all rows as JSON lines. Returns the number of rows. Other sessions can write to the
 * database during the export. An interrupted export cannot be resumed.
 */
export function exportRows(
  database: Database,
  { id, write, onProgress }: ExportOptions,
): Promise<number> {
  return database.transaction(
    async (queries) => {
      await queries.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await queries.query(useUtc);
      const header: Header = { trueward_export: 2, id, migrations: migrationNames() };
      await write(JSON.stringify(header));
      const tally = createTally();
      let count = 0;
      for (const table of await readTables(queries)) {
        tally.start(table);
        for await (const row of readRows(queries, table)) {
          tally.add(table, row);
          await write(formatRow({ table, row }));
          count += 1;
          onProgress(count);
        }
      }
      const trailer: Trailer = { tables: tally.result() };
      await write(JSON.stringify(trailer));
      return count;
    },
    { noTimeout: true },
  );
}

/** The summary of an export that is complete and unmodified. */
export interface CheckedExport {
  id: string;
  rows: number;
  tables: Tallies;
  /** An encrypted secret, for verifying the master key. Absent if the export contains no secrets. */
  sealed?: string;
}

/**
 * Reads and verifies a whole export. Must be called before the import.
 *
 * @throws TransferError when the file is not an export, is truncated or was modified, or has a different schema.
 */
export async function checkExport(
  lines: AsyncIterable<string>,
  onProgress: (rows: number) => void,
): Promise<CheckedExport> {
  const tally = createTally();
  let [number, rows] = [0, 0];
  let id: string | undefined;
  let trailer: Trailer | undefined;
  let sealed: string | undefined;
  for await (const text of lines) {
    number += 1;
    const line = number === 1 ? undefined : parseRow(text);
    if (number === 1) id = checkHeader(parseObject(text, number));
    else if (line) {
      tally.add(line.table, line.row);
      sealed ??= line.table === 'secrets' ? readSealed(line.row) : undefined;
      rows += 1;
      onProgress(rows);
    } else trailer = parseObject(text, number) as Trailer;
  }
  if (id === undefined || trailer?.tables === undefined)
    throw new TransferError(`The file is truncated after ${rows} rows. Export again.`);
  const tables = { ...emptyTallies(trailer.tables), ...tally.result() };
  const changedTables = findDifferences(tables, trailer.tables);
  if (changedTables.length > 0)
    throw new TransferError(
      `The file was modified or is truncated (${changedTables.join(', ')}). Export again.`,
    );
  return { id, rows, tables, ...(sealed === undefined ? {} : { sealed }) };
}

const emptyTallies = (tables: Tallies): Tallies =>
  Object.fromEntries(Object.keys(tables).map((table) => [table, { rows: 0, checksum: '0' }]));

const readSealed = (row: string): string => (JSON.parse(row) as { sealed: string }).sealed;

function parseObject(text: string, number: number): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error below contains the line number.
  }
  throw new TransferError(`Line ${number} is invalid. The file is truncated or is not an export.`);
}

function checkHeader(header: Partial<Header>): string {
  if (header.trueward_export !== 2 || header.id === undefined) {
    throw new TransferError('The file is not an export of this release of trueward-service.');
  }
  const [fileSchema, ownSchema] = [
    JSON.stringify(header.migrations),
    JSON.stringify(migrationNames()),
  ];
  if (fileSchema !== ownSchema) {
    throw new TransferError(
      `The file was exported with a different schema (${fileSchema}, this release has ${ownSchema}). Import it with the release that exported it, then start this release.`,
    );
  }
  return header.id;
}
