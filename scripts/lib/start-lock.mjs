import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processStart } from './process-start.mjs';

/**
 * @typedef {{ pid: number, start: string | undefined }} Known A process, told from a later one with its id.
 */

/**
 * Makes this process the only one that has started Trueward on these data. What a process that was
 * killed left behind is cleared away: its lock, and the processes that it had started.
 *
 * @param {string} dataDirectory
 * @returns {{ addChild(pid: number): void, release(): void }}
 * @throws when another live process holds the lock.
 */
export function takeStartLock(dataDirectory) {
  const file = join(dataDirectory, 'start.lock');
  const draft = `${file}.${process.pid}`;
  const owner = { ...known(process.pid), children: /** @type {Known[]} */ ([]) };
  const write = (/** @type {string} */ path) => writeFileSync(path, JSON.stringify(owner));
  write(draft);
  try {
    // A hard link appears complete, and for one process only.
    while (!tryLink(draft, file)) clearAbandoned(file);
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    addChild(pid) {
      owner.children.push(known(pid));
      write(draft);
      renameSync(draft, file);
    },
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * @param {number} pid
 * @returns {Known}
 */
const known = (pid) => ({ pid, start: processStart(pid) });

/** @param {Known} process */
const isAlive = ({ pid, start }) => start !== undefined && processStart(pid) === start;

/**
 * @param {string} from
 * @param {string} to
 */
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file */
function clearAbandoned(file) {
  const text = readText(file);
  if (text === undefined) return;
  const owner = parse(text);
  if (owner !== undefined && isAlive(owner)) {
    throw new Error(
      `Trueward already runs on these data (process ${owner.pid}; ${file}).\n` +
        'Stop it first, or give this one a folder of its own: TRUEWARD_DATA_DIR=.trueward-2 npm start',
    );
  }
  for (const child of owner?.children ?? []) {
    if (isAlive(child)) process.kill(child.pid, 'SIGKILL');
  }
  const aside = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another start cleared it first; the next look tells who has it now
  }
  // Between the look and the move another start may have taken the lock: it gets it back.
  if (readText(aside) !== text) tryLink(aside, file);
  rmSync(aside, { force: true });
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // nobody holds it
  }
}

/**
 * @param {string} text
 * @returns {(Known & { children: Known[] }) | undefined}
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // torn by a power cut: nobody holds it
  }
}
