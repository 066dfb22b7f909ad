import { expect, test } from 'vitest';
import { faults } from '../faults/faults.ts';
import { runFaults } from '../faults/run-faults.ts';

test(
  'when processes crash, connections break and the disk is full, no reward is lost, granted twice or left undelivered',
  { timeout: 180_000 },
  async ({ skip }) => {
    const report = await runFaults({
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
      wrong: [],
    });
    // The test proves something only if rewards were earned and requests were rejected.
    expect(report.rewards).toBeGreaterThanOrEqual(20);
    expect(report.rejected).toBeGreaterThan(0);
  },
);
