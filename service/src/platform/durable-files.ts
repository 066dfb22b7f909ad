/**
 * The only module that makes the data folder, and flushes and replaces files. What each platform can give:
 *
 * - Linux: files and folders are flushed with fsync.
 * - macOS: Node's fsync is `F_FULLFSYNC`, which also flushes the drive's own cache.
 * - Windows: a file is flushed through a handle that may write (`FlushFileBuffers` refuses any other), and a folder can't
 *   be flushed. NTFS writes the names of files in order in its own journal, so after a power failure a new file may be
 *   missing, but none is half written.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Only the owner may read and write. Has no effect on Windows, where the folder's access rules apply. */
const ownerOnly = 0o600;

/**
 * Makes the data folder if it is missing, accessible only to its owner. Whoever writes to the folder calls this first,
 * because with PostgreSQL and a master key from the environment, a service may need no data folder at all.
 */
export function makeDataFolder(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

interface WriteOptions {
  /** The temporary file. Writers that may run at the same time need different ones. Default: `${path}.new`. */
  draft?: string;
}

/**
 * Writes a file that only its owner can read, and replaces an existing file with the same path. After a crash or a power
 * failure, the file has either the old or the new content.
 */
export async function replaceFile(
  path: string,
  data: string | Uint8Array,
  { draft = `${path}.new` }: WriteOptions = {},
): Promise<void> {
  try {
    await writeFile(draft, data, { mode: ownerOnly, flush: true });
    await publishFile(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Writes a file that only its owner can read.
 *
 * @throws Error with the code `EEXIST` if the file exists.
 */
export function createFile(path: string, data: string): void {
  writeFileSync(path, data, { flag: 'wx', mode: ownerOnly, flush: true });
  syncFolder(dirname(path));
}

/** Options for `createWriteStream` that flush the file when it is closed. */
export const durableStream = { mode: ownerOnly, flush: true } as const;

/** How long a file that somebody else has open is waited for. Virus scanners take some 100 ms for a new file. */
const maxBusyMs = 2_000;
/** What Windows reports if somebody else has a file open that would be replaced. */
const busyCodes = ['EPERM', 'EACCES', 'EBUSY'];

/**
 * Gives a flushed file or folder its final name, durably. Replaces an existing file. On Windows, this fails while a virus
 * scanner or an indexer has either file open, so it is tried again for two seconds.
 */
export async function publishFile(
  draft: string,
  path: string,
  { platform = process.platform, move = rename } = {},
): Promise<void> {
  for (let waitedMs = 0, waitMs = 10; ; waitedMs += waitMs, waitMs *= 2) {
    try {
      await move(draft, path);
      break;
    } catch (error) {
      const isBusy = platform === 'win32' && busyCodes.includes(codeOf(error));
      if (!isBusy || waitedMs >= maxBusyMs) throw error;
      await sleep(waitMs);
    }
  }
  syncFolder(dirname(path));
}

/** Flushes the files in a folder, and the folder and its subfolders. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else syncFile(path);
  }
  syncFolder(folder);
}

function syncFile(path: string): void {
  withDescriptor(path, 'r+', fsyncSync);
}

/**
 * Flushes an open file or folder. On Windows, a file that was opened for reading is flushed through a handle of its own.
 *
 * @param path The path of the file or folder.
 */
export function syncDescriptor(descriptor: number, path: string): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (fstatSync(descriptor).isDirectory()) tolerateUnsupported(error);
    else if (codeOf(error) === 'EPERM') syncFile(path);
    else throw error;
  }
}

/** What systems report that can't open or flush a folder: Windows, and some network drives. */
const unsupportedCodes = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'EBADF', 'ENOTSUP', 'ENOSYS'];

/** Flushes the names in a folder. Does nothing where a folder can't be flushed. */
export function syncFolder(folder: string): void {
  try {
    withDescriptor(folder, 'r', fsyncSync);
  } catch (error) {
    tolerateUnsupported(error);
  }
}

function tolerateUnsupported(error: unknown): void {
  if (!unsupportedCodes.includes(codeOf(error))) throw error;
}

function withDescriptor(path: string, flags: string, use: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
