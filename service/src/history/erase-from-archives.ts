import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { publishFile } from '../platform/durable-files.ts';
import type { Queries } from '../store/database.ts';
import {
  type Manifest,
  readArchive,
  readManifest,
  writeManifest,
  writeRows,
} from './archive-week.ts';

/** A player to erase. */
interface Erasure {
  id: string;
  viewer: string;
}

type Row = Partial<Record<'id' | 'decision_id' | 'viewer', string>>;

/**
 * Removes erased players from the archives in a folder. A week that is still in the database needs no such step: it is
 * archived again, because it differs from its file. Reads a file only if players have been erased since the last time.
 * Returns the names of the files that were rewritten.
 */
export async function eraseFromArchives(queries: Queries, folder: string): Promise<string[]> {
  const erasures = await queries.query<Erasure>(
    `SELECT id, request ->> 'viewer' AS viewer FROM jobs WHERE kind = 'erasure' AND state <> 'canceled' ORDER BY id`,
  );
  const rewritten: string[] = [];
  const names = (await readdir(folder)).filter((name) => /^decisions_\d{8}\.json$/.test(name));
  for (const name of names.toSorted()) {
    const decisions = await readManifest(join(folder, name));
    const due = erasures.filter(({ id }) => id > (decisions?.erased_until ?? ''));
    if (!decisions || due.length === 0) continue;
    const ids = await findDecisions(folder, decisions, new Set(due.map(({ viewer }) => viewer)));
    const week = name.slice('decisions_'.length, -'.json'.length);
    // The decisions come last: if this is interrupted, they still tell which rows belong to the player.
    for (const table of ['timelines', 'decision_demand', 'tracker_requests', 'decisions']) {
      const manifest = await readManifest(join(folder, `${table}_${week}.json`));
      if (!manifest || (ids.size === 0 && table !== 'decisions')) continue;
      if (ids.size > 0) rewritten.push(manifest.file);
      const current = ids.size > 0 ? await rewrite(queries, folder, manifest, ids) : manifest;
      const until = due.at(-1)?.id ?? '';
      await writeManifest(join(folder, `${table}_${week}.json`), {
        ...current,
        erased_until: until,
      });
    }
  }
  return rewritten;
}

async function* readRows(folder: string, { file }: Manifest): AsyncGenerator<string> {
  const input = createReadStream(join(folder, file)).pipe(createGunzip());
  yield* createInterface({ input, crlfDelay: Infinity });
}

async function findDecisions(
  folder: string,
  manifest: Manifest,
  viewers: ReadonlySet<string>,
): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const line of readRows(folder, manifest)) {
    const { id = '', viewer = '' } = JSON.parse(line) as Row;
    if (viewers.has(viewer)) ids.add(id);
  }
  return ids;
}

/** Writes a file again without these decisions. Records its new tally, as {@link archiveWeek} does. */
async function rewrite(
  queries: Queries,
  folder: string,
  manifest: Manifest,
  ids: ReadonlySet<string>,
): Promise<Manifest> {
  const keep = async function* () {
    for await (const line of readRows(folder, manifest)) {
      const row = JSON.parse(line) as Row;
      if (!ids.has(row.decision_id ?? row.id ?? '')) yield line;
    }
  };
  const draft = join(folder, `${manifest.file}.part`);
  await writeRows(draft, keep(), () => undefined);
  const { bytes, sha256, tally } = await readArchive(draft);
  await publishFile(draft, join(folder, manifest.file));
  await queries.query(
    `UPDATE archived_weeks SET rows = $2, checksum = $3 WHERE account_id = 'service' AND name = $1`,
    [manifest.file.replace(/\.jsonl\.gz$/, ''), tally.rows, tally.checksum],
  );
  return { ...manifest, ...tally, bytes, sha256 };
}
