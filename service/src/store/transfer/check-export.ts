import { migrationNames } from '../migrate.ts';
import {
  createTally,
  differences,
  type Header,
  parseRow,
  type Tally,
  type Trailer,
  TransferError,
} from './format.ts';

/** An export that is whole. */
export interface CheckedExport {
  id: string;
  rows: number;
  tables: Record<string, Tally>;
  /** One secret as it is stored, by which the master key can be tried; absent where there is none. */
  sealed?: string;
}

/**
 * Reads an export from its first line to its last, before anything of it is taken in.
 *
 * @throws TransferError when it is none of ours, is cut or was changed, or has other tables.
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
    if (number === 1) id = readHeader(parse(text, number));
    else if (line) {
      tally.add(line);
      sealed ??= line.table === 'secrets' ? readSealed(line.row) : undefined;
      rows += 1;
      onProgress(rows);
    } else trailer = parse(text, number) as Trailer;
  }
  if (id === undefined || trailer?.tables === undefined)
    throw new TransferError(`The file is cut after ${rows} rows: export again.`);
  const tables = { ...emptyTables(trailer.tables), ...tally.result() };
  const changed = differences(tables, trailer.tables);
  if (changed.length > 0)
    throw new TransferError(
      `The file was changed or is cut (${changed.join(', ')}): export again.`,
    );
  return { id, rows, tables, ...(sealed === undefined ? {} : { sealed }) };
}

const emptyTables = (tables: Record<string, Tally>): Record<string, Tally> =>
  Object.fromEntries(Object.keys(tables).map((table) => [table, { rows: 0, checksum: '0' }]));

const readSealed = (row: string): string => (JSON.parse(row) as { sealed: string }).sealed;

function parse(text: string, number: number): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // It is told below, with its line.
  }
  throw new TransferError(
    `Line ${number} is not what an export writes: the file is cut or not one.`,
  );
}

function readHeader(header: Partial<Header>): string {
  if (header.trueward_export !== 2 || header.id === undefined) {
    throw new TransferError('The file is not an export of this version of trueward-service.');
  }
  const [theirs, ours] = [JSON.stringify(header.migrations), JSON.stringify(migrationNames())];
  if (theirs !== ours) {
    throw new TransferError(
      `The file was written with other tables (${theirs}, this version has ${ours}): import it with the version that wrote it, then start the new one.`,
    );
  }
  return header.id;
}
