import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from './process-identity.mjs';
import { replaceFile } from './replace-file.mjs';

/** @typedef {import('./process-identity.mjs').ProcessIdentity} ProcessIdentity */

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
  const owner = { ...identify(process.pid), children: /** @type {ProcessIdentity[]} */ ([]) };
  writeFileSync(draft, JSON.stringify(owner));
  try {
    // Creating a hard link is atomic: only one process can create the lock, and nobody can read a partly written one.
    while (!tryLink(draft, file)) removeAbandoned(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    addChild(pid) {
      owner.children.push(identify(pid));
      replaceFile(file, JSON.stringify(owner));
    },
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * @param {string} existingPath
 * @param {string} newPath
 */
function tryLink(existingPath, newPath) {
  try {
    linkSync(existingPath, newPath);
    return true;
  } catch (error) {
    return !isExisting(error) && tryCopy(existingPath, newPath);
  }
}

/**
 * Creates the file on a drive that has no hard links, such as exFAT and some network drives.
 *
 * @param {string} existingPath
 * @param {string} newPath
 */
function tryCopy(existingPath, newPath) {
  try {
    copyFileSync(existingPath, newPath, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
}

/** @param {unknown} error */
const isExisting = (error) => error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** @param {string} file */
function removeAbandoned(file) {
  const text = readText(file);
  if (text === undefined) return;
  const owner = parseLock(text);
  if (owner !== undefined && isRunning(owner) !== false) {
    throw new Error(
      `Trueward is already running with this data directory (process ${owner.pid}; ${file}).\n` +
        'Stop it, or set TRUEWARD_DATA_DIR to another directory, such as .trueward-2.',
    );
  }
  for (const child of owner?.children ?? []) {
    // An unknown process may be somebody else's.
    if (isRunning(child) === true) process.kill(child.pid, 'SIGKILL');
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
 * @returns {(ProcessIdentity & { children: ProcessIdentity[] }) | undefined}
 */
function parseLock(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // incomplete after a power failure: not locked
  }
}
