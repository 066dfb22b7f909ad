import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../run.mjs';

/**
 * `noticed`: a test failed or hung. `survived`: all tests passed. `skipped`: the mutant isn't a program or a statement,
 * so that a failure says nothing about the tests.
 *
 * @typedef {'noticed' | 'survived' | 'skipped'} Outcome
 */

/** @typedef {import('./test-server.mjs').Response & { isTimedOut: boolean }} Result */

const invalidMutant =
  /syntax error at or near|could not determine data type of parameter|SyntaxError:|Transform failed|Parse error/i;

/**
 * Starts the process that runs the tests, when it is first needed and again after a mutant has made it hang. It is the
 * leader of a process group, which contains everything that the tests start.
 *
 * @param {AbortSignal} signal ends it; runs then reject
 */
export function createTestServer(signal) {
  /** @type {Promise<import('node:child_process').ChildProcess> | undefined} */
  let starting;
  let end = () => {};
  signal.addEventListener('abort', () => end());

  async function start() {
    const folder = mkdtempSync(join(tmpdir(), 'trueward-mutant-'));
    chmodSync(folder, 0o755); // The PostgreSQL server runs as another user.
    const child = fork(join(import.meta.dirname, 'test-server.mjs'), {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // With one worker, the core is loaded only once per run, and nothing runs after the first failure.
      env: { ...process.env, TMPDIR: folder, TRUEWARD_TEST_WORKERS: '1', TRUEWARD_MUTANTS: '1' },
    });
    end = () => {
      starting = undefined;
      end = () => {};
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of its processes have exited.
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    child.once('exit', () => end());
    await waitForMessage(child, 600_000);
    return child;
  }

  return {
    /**
     * @param {readonly string[]} tests
     * @param {{ limitMs: number, mutant?: import('./mutate-code.mjs').Mutant }} options
     * @returns {Promise<Result>}
     */
    async run(tests, { limitMs, mutant }) {
      signal.throwIfAborted();
      const child = await (starting ??= start());
      child.send({ tests, mutant });
      const response = await waitForMessage(child, limitMs);
      signal.throwIfAborted();
      if (response === undefined) end();
      return response === undefined
        ? { failed: [...tests], errors: '', isTimedOut: true }
        : { .../** @type {import('./test-server.mjs').Response} */ (response), isTimedOut: false };
    },
    end: () => end(),
  };
}

/**
 * Resolves to the next message; to undefined after `limitMs`, or if the process exits.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} limitMs
 * @returns {Promise<unknown>}
 */
async function waitForMessage(child, limitMs) {
  const done = new AbortController();
  const { signal } = done;
  const timer = setTimeout(() => done.abort(), limitMs);
  const exited = () => done.abort();
  child.once('exit', exited);
  try {
    const [message] = await once(child, 'message', { signal });
    return message;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    child.off('exit', exited);
  }
}

/**
 * @param {Result} result
 * @returns {Outcome}
 */
export function judge({ errors, failed, isTimedOut }) {
  if (isTimedOut) return 'noticed';
  if (failed.length === 0 && errors === '') return 'survived';
  return invalidMutant.test(errors) ? 'skipped' : 'noticed';
}
