import { expect, test } from 'vitest';
import { runDemandKills } from '../kills/demand-kills.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test('no tracker, billing notice or reward is lost when processes are killed', async () => {
  const report = await runDemandKills({
    impressions: 200,
    players: 50,
    ...(hasPostgres && { databaseUrl: await createPostgresDatabase() }),
  });
  expect(report).toMatchObject({
    watched: 200,
    lostRewards: [],
    unrecorded: [],
    repeatedTrackers: [],
    missingBurls: [],
    inconsistent: [],
    unexpectedResponses: [],
  });
  // The test is meaningful only if processes were killed and trackers were fired.
  expect(report.kills).toBeGreaterThan(1);
  expect(report.trackerRequests['sent']).toBeGreaterThan(200 * 5);
}, 300_000);
