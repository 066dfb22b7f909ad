import { expect, test } from 'vitest';
import { killRepeatedly } from '../kills/kills.ts';

test('no acknowledged data is lost when the service is killed under load, twice', async () => {
  const report = await killRepeatedly({ kills: 2 });
  expect(report).toMatchObject({ lost: [], inconsistent: [] });
  // The test proves something only if there were decisions and events.
  expect(report.decisions).toBeGreaterThanOrEqual(200);
  expect(report.events).toBeGreaterThanOrEqual(200);
});
