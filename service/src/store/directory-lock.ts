import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { processStart } from '../platform/process-start.ts';

/** Another live process has the data open. */
export class DirectoryInUseError extends Error {
  readonly pid: number;
  constructor(file: string, pid: number) {
    super(
      `The data are in use by another running service (process ${pid}, lock ${file}). ` +
        'Stop it first, or give this one another TRUEWARD_DATA_DIR.',
    );
    this.name = 'DirectoryInUseError';
    this.pid = pid;
  }
}

interface Owner {
  pid: number;
  /** Tells the process from a later one that got the same pid. */
  start: string;
}

/**
 * Takes the exclusive lock `file` for this process. A lock whose process is gone is taken over.
 * It does not reach across machines or containers that share a folder but not their processes.
 */
export function takeDirectoryLock(file: string): { release(): void } {
  const me: Owner = { pid: process.pid, start: processStart(process.pid) ?? '' };
  const text = JSON.stringify(me);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  try {
    // A hard link is made by one process only, and the file is complete when it appears.
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
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // somebody else took it over first: the next look tells who
  }
  // Between reading and moving, another process may have taken over: its lock goes back.
  if (read(aside) !== text) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // there is no lock
  }
}

function parse(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, start } = value as Partial<Owner>;
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
  } catch {
    return undefined; // a torn file has no owner
  }
}
