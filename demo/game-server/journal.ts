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
  const file = await open(path, 'a+', 0o600);
  const bytes = await readFile(path);
  const completeLines = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  if (completeLines.length < bytes.length) await file.truncate(completeLines.length);
  // A new file is durable only after its folder has been synced.
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
  const lines = completeLines.toString('utf8').split('\n').filter(Boolean);
  let size = completeLines.length;
  return {
    entries: lines.map((line) => JSON.parse(line) as Entry),
    async append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        await file.appendFile(line);
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
