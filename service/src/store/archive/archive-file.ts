import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { createTally, type Tally } from '../transfer/format.ts';

/** What lies beside an archive file, once that is whole. */
export interface Manifest extends Tally {
  trueward_archive: 1;
  /** `decisions`, `ad_events` or `timelines`. */
  table: string;
  /** The Monday with which the week begins (UTC). */
  week: string;
  /** Its name, in the same folder. */
  file: string;
  bytes: number;
  sha256: string;
  /** The tables that its rows are of. */
  migrations: string[];
}

/**
 * Writes rows, each a line of JSON, into a new compressed file that only its owner may read; it is on
 * the disk when this resolves.
 */
export async function writeRows(path: string, rows: AsyncIterable<string>): Promise<void> {
  const lines = async function* () {
    for await (const row of rows) yield `${row}\n`;
  };
  await pipeline(
    Readable.from(lines()),
    createGzip(),
    createWriteStream(path, { mode: 0o600, flush: true }),
  );
}

/** Reads a file from its first byte to its last: its size, the hash of its bytes, and what its rows sum up to. */
export async function readSums(
  path: string,
): Promise<Pick<Manifest, 'bytes' | 'sha256'> & { tally: Tally }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const tally = createTally();
  tally.start('rows');
  const compressed = async function* () {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(compressed, createGunzip(), async (text: AsyncIterable<Buffer>) => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of text) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const row of lines) tally.add({ table: 'rows', row });
    }
  });
  const { rows } = tally.result();
  return { bytes, sha256: hash.digest('hex'), tally: rows ?? { rows: 0, checksum: '0' } };
}

/** Written at once and last, so that a file with a manifest is whole. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await writeFile(`${path}.part`, `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  await rename(`${path}.part`, path);
}

/** Undefined where there is none, or none of ours. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  try {
    const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
    return manifest.trueward_archive === 1 ? manifest : undefined;
  } catch {
    // Missing or half written: the week is archived anew.
    return undefined;
  }
}
