import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { durableStream, publishFile, replaceFile } from '../platform/durable-files.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import { migrationNames } from '../store/migrate.ts';
import type { Week } from '../store/partitions.ts';
import { createTally, isSameTally, readWeekRows, type Tally, tallyWeek } from './week-rows.ts';

/** Thrown when an archive differs from the database. The message describes the difference. */
export class ArchiveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArchiveError';
  }
}

/** The content of a manifest file, which describes an archive file. */
export interface Manifest extends Tally {
  trueward_archive: 1;
  /** The table, such as `decisions`. */
  table: string;
  /** The Monday on which the week begins (UTC). */
  week: string;
  /** The name of the archive file. */
  file: string;
  bytes: number;
  sha256: string;
  /** The migrations that define the schema of the rows. */
  migrations: string[];
  /** The last erasure of a player that has been applied to the file. */
  erased_until?: string;
}

interface ArchiveResult {
  manifest: Manifest;
  /** Whether a new file was written. */
  written: boolean;
}

/**
 * Archives a week as `<name>.jsonl.gz` in `folder`, with the manifest `<name>.json`. Verifies the file and records its
 * tally in the database. Keeps an existing file if it is complete and up to date.
 *
 * @throws ArchiveError when the file differs from the database.
 */
export async function archiveWeek(
  database: Database,
  week: Week,
  folder: string,
  clock: Clock,
  onRows: (rows: number) => void,
): Promise<ArchiveResult> {
  const manifestPath = join(folder, `${week.name}.json`);
  const existing = await readManifest(manifestPath);
  const tally = await tallyWeek(database, week);
  const written = !(existing && isSameTally(existing, tally) && (await isIntact(folder, existing)));
  const manifest = written
    ? await writeArchive(database, { week, folder, tally, onRows })
    : existing;
  if (written) await writeManifest(manifestPath, manifest);
  await database.query(
    `INSERT INTO archived_weeks (account_id, name, rows, checksum, archived_at) VALUES ('service', $1, $2, $3, $4)
      ON CONFLICT (account_id, name) DO UPDATE SET rows = excluded.rows, checksum = excluded.checksum,
        archived_at = excluded.archived_at`,
    [week.name, manifest.rows, manifest.checksum, new Date(clock.nowMs())],
  );
  return { manifest, written };
}

/** Whether a week has been archived and has not changed since. */
export async function isArchived(database: Database, week: Week): Promise<boolean> {
  const [archivedTally] = await database.query<Tally>(
    `SELECT rows, checksum FROM archived_weeks WHERE account_id = 'service' AND name = $1`,
    [week.name],
  );
  if (!archivedTally) return false;
  return isSameTally(archivedTally, await tallyWeek(database, week));
}

interface ArchiveOptions {
  week: Week;
  folder: string;
  /** The week's tally in the database. */
  tally: Tally;
  onRows(rows: number): void;
}

async function writeArchive(
  database: Database,
  { week, folder, tally, onRows }: ArchiveOptions,
): Promise<Manifest> {
  const file = `${week.name}.jsonl.gz`;
  const draft = join(folder, `${file}.part`);
  await writeRows(draft, readWeekRows(database, week), onRows);
  const { bytes, sha256, tally: writtenTally } = await readArchive(draft);
  if (!isSameTally(writtenTally, tally))
    throw new ArchiveError(
      `${draft} has ${writtenTally.rows} rows with the checksum ${writtenTally.checksum}, but the database has ${tally.rows} rows with ${tally.checksum}. The week has changed, or the disk is damaged. Archive again.`,
    );
  await publishFile(draft, join(folder, file));
  return {
    trueward_archive: 1,
    table: week.table,
    week: new Date(week.fromMs).toISOString().slice(0, 10),
    ...tally,
    file,
    bytes,
    sha256,
    migrations: migrationNames(),
  };
}

/** Writes rows as gzipped JSON lines to a file that only its owner can read, and flushes it to disk. */
export async function writeRows(
  path: string,
  rows: AsyncIterable<string>,
  onRows: (rows: number) => void,
): Promise<void> {
  const lines = async function* () {
    let count = 0;
    for await (const row of rows) {
      count += 1;
      onRows(count);
      yield `${row}\n`;
    }
  };
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(path, durableStream));
}

/** Reads an archive file. Returns its size, hash and row tally. */
export async function readArchive(
  path: string,
): Promise<Pick<Manifest, 'bytes' | 'sha256'> & { tally: Tally }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const tally = createTally();
  const compressedChunks = async function* () {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(compressedChunks, createGunzip(), async (text: AsyncIterable<Buffer>) => {
    const decoder = new TextDecoder();
    let partialLine = '';
    for await (const chunk of text) {
      const lines = (partialLine + decoder.decode(chunk, { stream: true })).split('\n');
      partialLine = lines.pop() ?? '';
      for (const row of lines) tally.add(row);
    }
  });
  return { bytes, sha256: hash.digest('hex'), tally: tally.result() };
}

async function isIntact(folder: string, manifest: Manifest): Promise<boolean> {
  try {
    return (await readArchive(join(folder, manifest.file))).sha256 === manifest.sha256;
  } catch {
    // The file is missing, or cannot be decompressed because it is truncated.
    return false;
  }
}

/** Writes a manifest atomically. Must be called after the archive file is complete. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await replaceFile(path, text, { draft: `${path}.part` });
}

/**
 * Reads a manifest. Returns undefined if the file does not exist or is not a manifest. The archive file is always the one
 * beside it, so that a manifest from elsewhere can't name another file.
 */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  try {
    const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
    const file = `${basename(path, '.json')}.jsonl.gz`;
    return manifest.trueward_archive === 1 ? { ...manifest, file } : undefined;
  } catch {
    return undefined;
  }
}
