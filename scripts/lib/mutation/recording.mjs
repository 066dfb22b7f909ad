import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, tool } from '../run.mjs';
import { listFiles } from './list-files.mjs';

/** @typedef {{ test: string, ms: number, calls: string[] }} Recorded what a test file calls, and how long it takes */

const cache = join(root, 'node_modules/.cache/mutation');

/**
 * Returns which of the service's functions each test file calls. Runs these tests once, and again only after a change.
 *
 * @returns {Promise<Recorded[]>}
 */
export async function readRecording() {
  const hash = createHash('sha256');
  for (const file of [
    ...listFiles('service/src'),
    ...listFiles('service/test'),
    ...listFiles('test/property'),
  ])
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  const done = join(folder, 'done');
  if (!existsSync(done)) {
    rmSync(cache, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    console.log('Recording once which tests call which of the service’s functions.');
    // A test that fails here says nothing about a mutant: each failure is compared with a run without one.
    const projects = ['unit', 'service', 'property'].flatMap((name) => ['--project', name]);
    await run([...tool('vitest'), 'run', ...projects, 'service/test', 'test/property'], {
      env: { TRUEWARD_RECORD_CALLS: folder },
      show: true,
    });
    writeFileSync(done, '');
  }
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}
