/**
 * A setup file for Vitest: writes which of the service's functions each test file calls. See `recording.mjs`.
 */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { root } from '../run.mjs';

/** @type {{ truewardHit?: (name: string) => void, truewardHits?: Set<string> }} */
const holder = /** @type {any} */ (globalThis);
const hits = (holder.truewardHits ??= new Set());
holder.truewardHit ??= (name) => hits.add(name);
let startedAt = 0;
beforeAll(() => {
  hits.clear();
  startedAt = performance.now();
});
afterAll(() => {
  const test = relative(root, expect.getState().testPath ?? '').replaceAll('\\', '/');
  const ms = Math.round(performance.now() - startedAt);
  writeFileSync(
    join(process.env['TRUEWARD_RECORD_CALLS'] ?? '', `${test.replaceAll('/', '+')}.json`),
    JSON.stringify({ test, ms, calls: [...hits] }),
  );
});
