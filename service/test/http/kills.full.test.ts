import { expect, test } from 'vitest';
import { killRepeatedly } from '../kills/kills.ts';

test('no acknowledged data is lost when the service is killed under load, twice', async () => {
  const report = await killRepeatedly({ kills: 2 });
  expect(report).toMatchObject({ lost: [], inconsistent: [] });
  // Without decisions and events, the test would prove nothing.
  expect(report.decisions).toBeGreaterThanOrEqual(200);
  expect(report.events).toBeGreaterThanOrEqual(200);
});
