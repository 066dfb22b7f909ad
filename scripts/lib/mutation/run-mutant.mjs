import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, tool } from '../run.mjs';

/**
 * `noticed`: a test failed or hung. `survived`: all tests passed. `skipped`: the mutant isn't a program or a statement,
 * so that a failure says nothing about the tests.
 *
 * @typedef {'noticed' | 'survived' | 'skipped'} Outcome
 */

const invalidMutant =
  /syntax error at or near|could not determine data type of parameter|SyntaxError:|Transform failed/;

/**
 * Runs tests in a process group of their own. Ends the group afterward, or after `limitMs`.
 *
 * @param {readonly string[]} tests
 * @param {{ limitMs: number, mutant?: import('./mutate-code.mjs').Mutant, signal: AbortSignal }} options
 * @returns {Promise<{ code: number | null, isTimedOut: boolean, output: string, ms: number }>}
 */
export async function runTests(tests, { limitMs, mutant, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-mutant-'));
  chmodSync(folder, 0o755); // The PostgreSQL server runs as another user.
  const startedAt = performance.now();
  const [program = '', ...args] = [
    ...tool('vitest'),
    'run',
    '--bail=1',
    '--reporter=dot',
    ...tests,
  ];
  const child = spawn(program, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TMPDIR: folder,
      ...(mutant && { TRUEWARD_MUTANT: JSON.stringify(mutant) }),
    },
  });
  let output = '';
  const collect = (/** @type {Buffer} */ chunk) => (output = (output + chunk).slice(-200_000));
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of its processes have exited.
    }
  };
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    endGroup();
  }, limitMs);
  signal.addEventListener('abort', endGroup);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    return { code, isTimedOut, output, ms: performance.now() - startedAt };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', endGroup);
    endGroup();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Awaited<ReturnType<typeof runTests>>} result
 * @returns {Outcome}
 */
export function judge({ code, isTimedOut, output }) {
  if (isTimedOut) return 'noticed';
  if (code === 0) return 'survived';
  return invalidMutant.test(output) ? 'skipped' : 'noticed';
}
