import { expect, inject, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { startInProcess } from '../in-process.ts';

test('whatever the input, every response is a documented one and reveals no internals', async () => {
  const running = await startInProcess({ RATE_LIMITS: 'off' });
  const { findings, statuses } = await fuzz(running, {
    requests: inject('full') ? 5_000 : 500,
    seed: 7,
  });
  expect(findings.slice(0, 5)).toEqual([]);
  // The test proves something only if there were both valid and invalid requests.
  expect(statuses.get(200)).toBeGreaterThan(50);
  expect(statuses.get(422)).toBeGreaterThan(50);
  await running.stop();
});
