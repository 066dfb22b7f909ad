import { expect, inject, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { startInProcess } from '../in-process.ts';

test('every response to arbitrary input is documented and reveals no internals', async () => {
  const running = await startInProcess({ RATE_LIMITS: 'off' });
  const { findings, statuses } = await fuzz(running, {
    requests: inject('full') ? 5_000 : 500,
    seed: 7,
  });
  expect(findings.slice(0, 5)).toEqual([]);
  // Without valid and invalid requests, the test would prove nothing.
  expect(statuses.get(200)).toBeGreaterThan(50);
  expect(statuses.get(422)).toBeGreaterThan(50);
  await running.stop();
});
