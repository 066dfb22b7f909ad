import { createHash } from 'node:crypto';
import { migrationNames } from '../migrate.ts';

/** The file cannot be taken in, or not into this database; the message says why. */
export class TransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TransferError';
  }
}

/** First line of an export. */
export interface Header {
  trueward_export: 2;
  /** Tells this export from every other one. */
  id: string;
  migrations: string[];
}

/** How many rows a table has, and a sum over the digests of all of them, in whatever order. */
export interface Tally {
  rows: number;
  checksum: string;
}

/** Last line: without it the file is cut. */
export interface Trailer {
  tables: Record<string, Tally>;
}

/** A line in between; the row is the text that the database wrote. */
export interface RowLine {
  table: string;
  row: string;
}

export const header = (id: string): Header => ({
  trueward_export: 2,
  id,
  migrations: migrationNames(),
});

export const formatRow = ({ table, row }: RowLine): string =>
  `{"table":${JSON.stringify(table)},"row":${row}}`;

const rowPattern = /^\{"table":("[^"]+(?:\\"[^"]*)*"),"row":(.*)\}$/;

/** Undefined when it is no row. */
export function parseRow(text: string): RowLine | undefined {
  const [, table, row] = rowPattern.exec(text) ?? [];
  return table === undefined || row === undefined
    ? undefined
    : { table: JSON.parse(table) as string, row };
}

/** So many hexadecimal digits of a digest are summed: a number that every engine can hold. */
export const digestDigits = 15;

/** Counts rows, and sums their digests as the database does. */
export function createTally() {
  const tables = new Map<string, { rows: number; sum: bigint }>();
  return {
    add({ table, row }: RowLine): void {
      const tally = tables.get(table) ?? { rows: 0, sum: 0n };
      const digest = createHash('sha256').update(row).digest('hex').slice(0, digestDigits);
      tally.rows += 1;
      tally.sum += BigInt(`0x${digest}`);
      tables.set(table, tally);
    },
    /** A table without rows counts too. */
    start(table: string): void {
      tables.set(table, { rows: 0, sum: 0n });
    },
    result: (): Record<string, Tally> =>
      Object.fromEntries(
        [...tables].map(([table, { rows, sum }]) => [table, { rows, checksum: String(sum) }]),
      ),
  };
}

/** The names of the tables that are not alike. */
export const differences = (a: Record<string, Tally>, b: Record<string, Tally>): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (table) => a[table]?.rows !== b[table]?.rows || a[table]?.checksum !== b[table]?.checksum,
  );
