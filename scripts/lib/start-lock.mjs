import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ pid: number, start: string | undefined }} ProcessId `start` distinguishes a process from a later one with
 *   the same pid.
 */

/**
 * Acquires the lock on a data directory, so that only one `npm start` uses the directory. If the previous holder was
 * killed, its remaining child processes are killed too. proper-lockfile can't be used: it doesn't track child processes,
 * and it detects a stale lock by the lock's age, not by whether the holder is still running.
 *
 * @param {string} dataDirectory
 * @returns {{ addChild(pid: number): void, release(): void }}
 * @throws when a running process holds the lock.
 */
export function acquireStartLock(dataDirectory) {
  const file = join(dataDirectory, 'start.lock');
  const draft = `${file}.${process.pid}`;
  const owner = { ...identify(process.pid), children: /** @type {ProcessId[]} */ ([]) };
  const write = (/** @type {string} */ path) => writeFileSync(path, JSON.stringify(owner));
  write(draft);
  try {
    // Creating a hard link is atomic: only one process can create the lock, and nobody can read a partly written one.
    while (!tryLink(draft, file)) removeAbandoned(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    addChild(pid) {
      owner.children.push(identify(pid));
      write(draft);
      renameSync(draft, file);
    },
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * @param {number} pid
 * @returns {ProcessId}
 */
const identify = (pid) => ({ pid, start: readProcessStart(pid) });

/** @param {ProcessId} process */
const isAlive = ({ pid, start }) => start !== undefined && readProcessStart(pid) === start;

/**
 * @param {string} existingPath
 * @param {string} newPath
 */
function tryLink(existingPath, newPath) {
  try {
    linkSync(existingPath, newPath);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file */
function removeAbandoned(file) {
  const text = readText(file);
  if (text === undefined) return;
  const owner = parseLock(text);
  if (owner !== undefined && isAlive(owner)) {
    throw new Error(
      `Trueward is already running with this data directory (process ${owner.pid}; ${file}).\n` +
        'Stop it, or use another directory: TRUEWARD_DATA_DIR=.trueward-2 npm start',
    );
  }
  for (const child of owner?.children ?? []) {
    if (isAlive(child)) process.kill(child.pid, 'SIGKILL');
  }
  const movedLock = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, movedLock);
  } catch {
    return; // another `npm start` has removed the lock; the next attempt sees the current holder
  }
  // If another `npm start` acquired the lock after this process read the old one, put the new lock back.
  if (readText(movedLock) !== text) tryLink(movedLock, file);
  rmSync(movedLock, { force: true });
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not locked
  }
}

/**
 * @param {string} text
 * @returns {(ProcessId & { children: ProcessId[] }) | undefined}
 */
function parseLock(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // incomplete after a power failure: not locked
  }
}

/**
 * Returns a string, based on the start time, that distinguishes a running process from a later process with the same pid.
 * Returns undefined if the process isn't running.
 *
 * @param {number} pid
 * @returns {string | undefined}
 */
function readProcessStart(pid) {
  try {
    process.kill(pid, 0);
    if (process.platform === 'win32') return `pid ${pid}`;
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // See `man 5 proc`. Field 3, the first after the name, is the state (Z is a zombie). Field 22 is the start time in
    // ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? undefined : `${boot} ${fields[19]}`;
  } catch {
    return undefined; // the process has exited
  }
}
