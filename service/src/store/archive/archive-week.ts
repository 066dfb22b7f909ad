import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, Queries } from '../database.ts';
import { migrationNames } from '../migrate.ts';
import { selectWeek, type Week } from '../partitions.ts';
import type { Tally } from '../transfer/format.ts';
import { readRows } from '../transfer/read-rows.ts';
import { sameTextEverywhere, tallyTable } from '../transfer/tables.ts';
import { type Manifest, readManifest, readSums, writeManifest, writeRows } from './archive-file.ts';

/** The archive is not what the database holds; the message says in what. */
export class ArchiveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArchiveError';
  }
}

/** What became of a week. */
export interface Archived {
  manifest: Manifest;
  /** False where the file was there and whole, and the week has not changed since. */
  written: boolean;
}

const sourceOf = (week: Week): string => `(${selectWeek(week)})`;
const sameSums = (a: Tally, b: Tally): boolean => a.rows === b.rows && a.checksum === b.checksum;

/**
 * Writes a week into `folder`, as `<name>.jsonl.gz` with its manifest `<name>.json`, reads the file
 * back, and notes in the database what it holds. Done again, it writes only what is missing or has
 * changed.
 *
 * @throws ArchiveError when what was read back is not what the database holds.
 */
export async function archiveWeek(
  database: Database,
  week: Week,
  folder: string,
  onRows: (rows: number) => void,
): Promise<Archived> {
  const manifestPath = join(folder, `${week.name}.json`);
  const known = await readManifest(manifestPath);
  const result = await atOneMoment(database, async (queries) => {
    const there = await tallyTable(queries, sourceOf(week));
    if (known && sameSums(known, there) && (await isWhole(folder, known)))
      return { manifest: known, written: false };
    return { manifest: await write(queries, { week, folder, there, onRows }), written: true };
  });
  if (result.written) await writeManifest(manifestPath, result.manifest);
  await database.query(
    `INSERT INTO archived_weeks (account_id, name, rows, checksum, archived_at) VALUES ('service', $1, $2, $3, now())
      ON CONFLICT (account_id, name) DO UPDATE SET rows = excluded.rows, checksum = excluded.checksum, archived_at = now()`,
    [week.name, result.manifest.rows, result.manifest.checksum],
  );
  return result;
}

/** Whether a week was archived and has not changed since. */
export async function isArchived(database: Database, week: Week): Promise<boolean> {
  const [noted] = await database.query<Tally>(
    `SELECT rows, checksum FROM archived_weeks WHERE account_id = 'service' AND name = $1`,
    [week.name],
  );
  if (!noted) return false;
  const there = await atOneMoment(database, (queries) => tallyTable(queries, sourceOf(week)));
  return sameSums(noted, there);
}

const atOneMoment = <T>(database: Database, work: (queries: Queries) => Promise<T>): Promise<T> =>
  database.transaction(
    async (queries) => {
      await queries.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await queries.query(sameTextEverywhere);
      return work(queries);
    },
    { unhurried: true },
  );

async function isWhole(folder: string, manifest: Manifest): Promise<boolean> {
  try {
    return (await readSums(join(folder, manifest.file))).sha256 === manifest.sha256;
  } catch {
    // Gone, or cut so that it cannot be unpacked.
    return false;
  }
}

interface Writing {
  week: Week;
  folder: string;
  there: Tally;
  onRows(rows: number): void;
}

async function write(
  queries: Queries,
  { week, folder, there, onRows }: Writing,
): Promise<Manifest> {
  const file = `${week.name}.jsonl.gz`;
  const draft = join(folder, `${file}.part`);
  await writeRows(draft, counted(readRows(queries, sourceOf(week)), onRows));
  const { bytes, sha256, tally } = await readSums(draft);
  if (!sameSums(tally, there))
    throw new ArchiveError(
      `${draft} has ${tally.rows} rows with the checksum ${tally.checksum}, the database ${there.rows} with ${there.checksum}: look at the disk, then archive again.`,
    );
  await rename(draft, join(folder, file));
  return {
    trueward_archive: 1,
    table: week.table,
    week: new Date(week.fromMs).toISOString().slice(0, 10),
    ...there,
    file,
    bytes,
    sha256,
    migrations: migrationNames(),
  };
}

async function* counted(
  rows: AsyncIterable<string>,
  onRows: (rows: number) => void,
): AsyncGenerator<string> {
  let count = 0;
  for await (const row of rows) {
    count += 1;
    onRows(count);
    yield row;
  }
}
