import { expect, inject, test } from 'vitest';
import { runDemandKills } from '../kills/demand-kills.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test.runIf(inject('full'))(
  'no tracker, billing notice or reward is lost when processes are killed',
  async () => {
    const players = 50;
    const impressions = players * 4;
    const report = await runDemandKills({
      impressions,
      players,
      ...(hasPostgres && { databaseUrl: await createEmptyPostgresDatabase() }),
    });
    expect(report).toMatchObject({
      watched: impressions,
      lostRewards: [],
      unrecorded: [],
      repeatedTrackers: [],
      missingBurls: [],
      inconsistent: [],
      unexpectedResponses: [],
    });
    // The test is meaningful only if processes were killed and trackers were fired.
    expect(report.kills).toBeGreaterThan(1);
    expect(report.trackerRequests['sent']).toBeGreaterThan(impressions * 5);
  },
  300_000,
);
