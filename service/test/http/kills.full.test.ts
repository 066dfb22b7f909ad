import { expect, test } from 'vitest';
import { killRepeatedly } from '../kills/kills.ts';
import { runWalletKills } from '../kills/wallet-kills.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test('killing the service under load loses no acknowledged data', async () => {
  const report = await killRepeatedly({ kills: 2 });
  expect(report).toMatchObject({ lost: [], inconsistent: [] });
  // The test is meaningful only if there were decisions and events.
  expect(report.decisions).toBeGreaterThanOrEqual(200);
  expect(report.events).toBeGreaterThanOrEqual(200);
});

test('killing processes loses and repeats no credit and no spend', async () => {
  const report = await runWalletKills({
    changes: 200,
    kills: 2,
    players: 20,
    ...(hasPostgres && { databaseUrl: await createEmptyPostgresDatabase() }),
  });
  expect(report).toMatchObject({
    sums: [],
    lost: [],
    unconfirmed: [],
    differences: [],
    unexpectedResponses: [],
  });
  // The test is meaningful only if players earned and spent.
  expect(report.credits).toBeGreaterThan(20);
  expect(report.spends).toBeGreaterThan(100);
}, 300_000);
