import { expect, inject, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { startInProcess } from '../in-process.ts';

test('every response to random input is documented and reveals no internals', async () => {
  const runningService = await startInProcess({ RATE_LIMITS: 'off' });
  const { findings, statuses } = await fuzz(runningService, {
    requests: inject('full') ? 5_000 : 500,
    seed: 7,
  });
  expect(findings.slice(0, 5)).toEqual([]);
  // The test is meaningful only if requests were both accepted and rejected.
  expect(statuses.get(200)).toBeGreaterThan(50);
  expect(statuses.get(422)).toBeGreaterThan(50);
  await runningService.stop();
});
