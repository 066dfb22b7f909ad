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
 * Returns which of the core's functions each test file calls. Runs all tests once, and again only after a change.
 *
 * @returns {Promise<Recorded[]>}
 */
export async function readRecording() {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(listFiles))
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  const done = join(folder, 'done');
  if (!existsSync(done)) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    console.log(
      'Recording once which functions each test calls. This takes as long as these tests.',
    );
    const options = projects.flatMap((name) => ['--project', name]);
    // A test that fails here says nothing about a mutant until it has passed without one; see `createBaseline`.
    await run([...tool('vitest'), 'run', ...options], {
      env: { TRUEWARD_RECORD_CALLS: folder },
      show: true,
    });
    writeFileSync(done, '');
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}
