import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isRunning, ownIdentity, type ProcessIdentity } from '../platform/process-identity.ts';

/** Thrown when another process is using the data folder. */
export class DirectoryInUseError extends Error {
  readonly pid: number;
  constructor(file: string, pid: number) {
    super(
      `The data directory is in use by another running service (process ${pid}, lock file ${file}). ` +
        'Stop that service first, or set TRUEWARD_DATA_DIR to another directory.',
    );
    this.name = 'DirectoryInUseError';
    this.pid = pid;
  }
}

/**
 * Acquires an exclusive lock file for this process. Takes over the lock of a process that has exited. Doesn't work
 * across machines or containers, because they can't see each other's processes.
 *
 * @throws DirectoryInUseError when a running process holds the lock.
 */
export function acquireDirectoryLock(file: string): { release(): void } {
  const text = JSON.stringify(ownIdentity());
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  try {
    // Creating a hard link is atomic: only one process succeeds, and other processes never see an incomplete file.
    while (!tryLink(draft, file)) removeStale(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (readLockFile(file) === text) rmSync(file, { force: true });
    },
  };
}

function tryLink(from: string, to: string): boolean {
  return tryCreate(() => {
    try {
      linkSync(from, to);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw error;
      // The drive has no hard links, like exFAT and some network drives.
      copyFileSync(from, to, constants.COPYFILE_EXCL);
    }
  });
}

function tryCreate(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

function removeStale(file: string): void {
  const text = readLockFile(file);
  if (text === undefined) return;
  const owner = parseOwner(text);
  if (owner && isRunning(owner)) throw new DirectoryInUseError(file, owner.pid);
  const staleFile = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, staleFile);
  } catch {
    return; // Another process has removed the file.
  }
  // If another process acquired the lock between the read and the rename, restores that process's lock file.
  if (readLockFile(staleFile) !== text) tryLink(staleFile, file);
  rmSync(staleFile, { force: true });
}

function readLockFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // There is no lock file.
  }
}

function parseOwner(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, start } = value as Partial<ProcessIdentity>;
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
  } catch {
    return undefined; // The file is truncated.
  }
}
