import { expect, test } from 'vitest';
import { killAgainAndAgain } from '../kills/kills.ts';

test('no acknowledged data is lost when the service is killed under load, twice', async () => {
  const report = await killAgainAndAgain({ kills: 2 });
  expect(report).toMatchObject({ lost: [], torn: [] });
  // Otherwise it would show nothing.
  expect(report.decisions).toBeGreaterThanOrEqual(200);
  expect(report.events).toBeGreaterThanOrEqual(200);
});
