import { expect, test } from 'vitest';
import { faults } from '../faults/faults.ts';
import { runFaults } from '../faults/run-faults.ts';

test(
  'nothing is lost, granted twice or left undelivered when processes crash, connections break and the disk is full',
  { timeout: 180_000 },
  async ({ skip }) => {
    const report = await runFaults({
      players: 48,
      hasty: true,
      faults: [faults.killService, faults.killPostgres, faults.cutConnections, faults.fillDisk],
    });
    if (!report) return skip('There is no PostgreSQL here.');
    expect(report).toMatchObject({ lost: [], twice: [], untold: [], torn: [], wrong: [] });
    // Otherwise it would show nothing.
    expect(report.rewards).toBeGreaterThanOrEqual(20);
    expect(report.refused).toBeGreaterThan(0);
  },
);
