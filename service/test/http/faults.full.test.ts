import { expect, test } from 'vitest';
import { faults } from '../faults/faults.ts';
import { injectFaults } from '../faults/run-faults.ts';

test(
  'no reward is lost or duplicated by crashes, broken connections or a full disk',
  { timeout: 180_000 },
  async ({ skip }) => {
    const report = await injectFaults({
      players: 48,
      backToBack: true,
      faults: [faults.killService, faults.killPostgres, faults.cutConnections, faults.fillDisk],
    });
    if (!report) return skip('PostgreSQL is not installed.');
    expect(report).toMatchObject({
      lost: [],
      duplicated: [],
      undelivered: [],
      inconsistent: [],
      wallets: [],
      unexpectedResponses: [],
    });
    // The test is meaningful only if rewards were earned and requests were rejected.
    expect(report.rewards).toBeGreaterThanOrEqual(20);
    expect(report.walletChanges).toBeGreaterThanOrEqual(20);
    expect(report.rejected).toBeGreaterThan(0);
  },
);
