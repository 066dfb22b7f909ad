import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, tool } from '../run.mjs';
import { listFiles } from './list-files.mjs';

/**
 * What a test file calls, how long it takes, and whether its tests passed.
 *
 * @typedef {{ test: string, ms: number, passed: boolean, calls: string[] }} Recorded
 */

const cache = join(root, 'node_modules/.cache/mutation');

/** What a recording depends on. */
const sources = ['src', 'service/src', 'test', 'service/test'];
/** The tests that run the core in their own process or page, from its sources. */
const projects = ['unit', 'service', 'property', 'browser'];

/**
 * Returns which of the core's functions each test file calls. Runs the tests once, and again only after a change.
 *
 * @param {readonly string[]} prefixes only tests whose paths begin with one of these; all of them if there are none
 * @returns {Promise<Recorded[]>}
 */
export async function readRecording(prefixes) {
  const folder = join(cache, hashSources());
  if (!existsSync(folder)) rmSync(cache, { recursive: true, force: true });
  const all = join(folder, 'all');
  const some = join(folder, createHash('sha256').update(prefixes.join('\n')).digest('hex'));
  const isComplete = prefixes.length === 0 || existsSync(join(all, 'done'));
  const recorded = await readOrRecord(isComplete ? all : some, isComplete ? [] : prefixes);
  return prefixes.length === 0
    ? recorded
    : recorded.filter(({ test }) => prefixes.some((prefix) => test.startsWith(prefix)));
}

function hashSources() {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(listFiles))
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param {string} folder
 * @param {readonly string[]} filters
 * @returns {Promise<Recorded[]>}
 */
async function readOrRecord(folder, filters) {
  const done = join(folder, 'done');
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    console.log(
      'Recording once which functions each test calls. This takes as long as these tests.',
    );
    const options = projects.flatMap((name) => ['--project', name]);
    // A test that fails here can't judge a mutant; see `testMutants`.
    await run([...tool('vitest'), 'run', ...options, ...filters], {
      env: { TRUEWARD_RECORD_CALLS: folder },
      show: true,
    });
    writeFileSync(done, '');
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}
