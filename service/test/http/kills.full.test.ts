import { expect, test } from 'vitest';
import { killRepeatedly } from '../kills/kills.ts';

test('killing the service under load loses no acknowledged data', async () => {
  const report = await killRepeatedly({ kills: 2 });
  expect(report).toMatchObject({ lost: [], inconsistent: [] });
  // The test is meaningful only if there were decisions and events.
  expect(report.decisions).toBeGreaterThanOrEqual(200);
  expect(report.events).toBeGreaterThanOrEqual(200);
});
