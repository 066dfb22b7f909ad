import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Thrown when another running process uses the data directory. */
export class DirectoryInUseError extends Error {
  readonly pid: number;
  constructor(file: string, pid: number) {
    super(
      `The data directory is in use by another running service (process ${pid}, lock file ${file}). ` +
        'Stop that service first, or use another TRUEWARD_DATA_DIR.',
    );
    this.name = 'DirectoryInUseError';
    this.pid = pid;
  }
}

interface Owner {
  pid: number;
  /** The start time, which distinguishes the process from a later process with the same pid. */
  start: string;
}

/**
 * Acquires the exclusive lock `file` for this process. Takes the lock over if the process that holds it has exited.
 * This doesn't work between machines or containers that share the folder but can't see each other's processes.
 *
 * @throws DirectoryInUseError when a running process holds the lock.
 */
export function acquireDirectoryLock(file: string): { release(): void } {
  const owner: Owner = { pid: process.pid, start: processStart(process.pid) ?? '' };
  const text = JSON.stringify(owner);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  try {
    // Only one process can create the hard link. Other processes never see an incomplete file.
    while (!tryLink(draft, file)) removeStale(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (read(file) === text) rmSync(file, { force: true });
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
  const text = read(file);
  if (text === undefined) return;
  const owner = parse(text);
  if (owner && owner.start !== '' && processStart(owner.pid) === owner.start) {
    throw new DirectoryInUseError(file, owner.pid);
  }
  const staleFile = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, staleFile);
  } catch {
    return; // another process was faster: the next attempt finds its lock
  }
  // If another process acquired the lock between the read and the rename, restore its file.
  if (read(staleFile) !== text) tryLink(staleFile, file);
  rmSync(staleFile, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // no lock file
  }
}

function parse(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, start } = value as Partial<Owner>;
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
  } catch {
    return undefined; // a truncated file has no owner
  }
}

/**
 * Returns an opaque start time, which distinguishes a process from a later process with the same pid; undefined if the
 * process is not running.
 */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is running, but belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined;
  }
  if (process.platform === 'linux') return linuxStart(pid);
  if (process.platform === 'win32') return `pid ${pid}`;
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/**
 * Field 22 of /proc/pid/stat is a number of ticks since boot, so the result also includes the boot id (`man 5 proc`).
 */
function linuxStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined; // a zombie: ended, but not reaped by its parent
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined; // it has just ended
  }
}
