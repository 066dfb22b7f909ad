import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An append-only file of JSON lines. A line survives a power failure once `append` has resolved. */
export interface Journal<Entry> {
  /** The entries that were in the file when it was opened. */
  readonly entries: readonly Entry[];
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens or creates the file. If a crash truncated the last line, that line was never acknowledged, so it is removed.
 */
export async function openJournal<Entry>(path: string): Promise<Journal<Entry>> {
  await mkdir(dirname(path), { recursive: true });
  await (await open(path, 'a', 0o600)).close();
  // Not opened for appending, because Windows lets nobody shorten such a file.
  const file = await open(path, 'r+');
  const bytes = await readFile(path);
  const completeLines = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  if (completeLines.length < bytes.length) await file.truncate(completeLines.length);
  await syncFolder(dirname(path));
  const lines = completeLines.toString('utf8').split('\n').filter(Boolean);
  let size = completeLines.length;
  return {
    entries: lines.map((line) => JSON.parse(line) as Entry),
    async append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        const { bytesWritten } = await file.write(line, 0, line.length, size);
        if (bytesWritten < line.length) throw new Error(`${path}: the disk is full.`);
        await file.datasync();
        size += line.length;
      } catch (error) {
        // A partial line would corrupt the next entry.
        await file.truncate(size);
        throw error;
      }
    },
    close: () => file.close(),
  };
}

/** A new file is durable only after its folder has been synced. Windows and some network drives can't do this. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
