import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

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

interface Owner {
  pid: number;
  /** The start time of the process. A later process can reuse its pid, but has a different start time. */
  start: string;
}

/**
 * Acquires an exclusive lock file for this process. Takes over the lock of a process that has exited. Doesn't work
 * across machines or containers, because they can't see each other's processes.
 *
 * @throws DirectoryInUseError when a running process holds the lock.
 */
export function acquireDirectoryLock(file: string): { release(): void } {
  const owner: Owner = { pid: process.pid, start: processStart(process.pid) ?? '' };
  const text = JSON.stringify(owner);
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
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(file: string): void {
  const text = readLockFile(file);
  if (text === undefined) return;
  const owner = parseOwner(text);
  if (owner && owner.start !== '' && processStart(owner.pid) === owner.start) {
    throw new DirectoryInUseError(file, owner.pid);
  }
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

function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, start } = value as Partial<Owner>;
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
  } catch {
    return undefined; // The file is truncated.
  }
}

/**
 * Returns the start time of a process in an opaque format, or undefined if the process is not running. The start time
 * distinguishes the process from a later one that reuses its pid.
 */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process is running, but belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined;
  }
  if (process.platform === 'linux') return readLinuxStart(pid);
  if (process.platform === 'win32') return `pid ${pid}`;
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/**
 * Combines the boot id with the start time in field 22 of /proc/pid/stat, which is relative to boot time (`man 5
 * proc`).
 */
function readLinuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined; // A zombie has exited, but its parent hasn't reaped it.
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined; // The process has just exited.
  }
}
