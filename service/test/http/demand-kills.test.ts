import { expect, test } from 'vitest';
import { killDemand } from '../kills/demand-kills.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test('when processes are killed, no tracker, billing notice or reward is lost, and no pixel is requested twice', async () => {
  const report = await killDemand({
    impressions: 200,
    players: 50,
    ...(hasPostgres && { databaseUrl: await createPostgresDatabase() }),
  });
  expect(report).toMatchObject({
    watched: 200,
    lostRewards: [],
    unrecorded: [],
    repeatedPixels: [],
    missingBurls: [],
    inconsistent: [],
    wrong: [],
  });
  // The test proves something only if processes were killed and requests were made.
  expect(report.kills).toBeGreaterThan(1);
  expect(report.ended['sent']).toBeGreaterThan(200 * 5);
}, 300_000);
