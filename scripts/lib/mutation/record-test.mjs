/**
 * A setup file for Vitest: writes which functions each test file calls. See `recording.mjs`. It also runs in browsers.
 */
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

/** @type {{ truewardHit?: (name: string) => void, truewardHits?: Set<string> }} */
const holder = /** @type {any} */ (globalThis);
const hits = (holder.truewardHits ??= new Set());
holder.truewardHit ??= (name) => hits.add(name);
let startedAt = 0;
/** @type {boolean | undefined} */
let passed;
beforeAll(() => {
  hits.clear();
  passed = undefined;
  startedAt = performance.now();
});
afterEach(({ task }) => {
  passed = (passed ?? true) && task.result?.state !== 'fail';
});
afterAll(async () => {
  /** @type {{ folder: string, root: string }} */
  const { folder, root } = inject(/** @type {never} */ ('recordCalls'));
  const test = (expect.getState().testPath ?? '').replaceAll('\\', '/').replace(`${root}/`, '');
  const ms = Math.round(performance.now() - startedAt);
  await writeText(
    `${folder}/${test.replaceAll('/', '+')}.json`,
    JSON.stringify({ test, ms, passed: passed ?? false, calls: [...hits] }),
  );
});

/**
 * @param {string} path
 * @param {string} text
 */
async function writeText(path, text) {
  if (typeof document === 'undefined')
    return (await import('node:fs/promises')).writeFile(path, text);
  const { commands } = await import('vitest/browser');
  return commands.writeFile(path, text);
}
