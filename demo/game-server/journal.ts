import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file of JSON lines that only grows. What `append` has resolved for survives a loss of power. */
export interface Journal<Entry> {
  /** What was in the file when it was opened. */
  readonly entries: readonly Entry[];
  append(entry: Entry): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file, or makes it. A last line that was cut off by a crash was never promised, and is removed. */
export async function openJournal<Entry>(path: string): Promise<Journal<Entry>> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+', 0o600);
  const bytes = await readFile(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
  if (whole.length < bytes.length) await file.truncate(whole.length);
  // The file's name is durable only once its folder is.
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
  const lines = whole.toString('utf8').split('\n').filter(Boolean);
  let size = whole.length;
  return {
    entries: lines.map((line) => JSON.parse(line) as Entry),
    async append(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        await file.appendFile(line);
        await file.datasync();
        size += line.length;
      } catch (error) {
        // Half a line would spoil the next one.
        await file.truncate(size);
        throw error;
      }
    },
    close: () => file.close(),
  };
}
