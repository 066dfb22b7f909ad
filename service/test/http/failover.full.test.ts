import { expect, test } from 'vitest';
import { failures } from '../failover/failures.ts';
import { findMissingPrograms } from '../failover/patroni.ts';
import { runFailures } from '../failover/run-failures.ts';

test(
  'no acknowledged data is lost in a PostgreSQL switchover or primary failure',
  { timeout: 300_000 },
  async ({ skip }) => {
    const missingPrograms = findMissingPrograms();
    if (missingPrograms.length > 0) return skip(`not installed: ${missingPrograms.join(', ')}`);
    const queue = [failures.switchover, failures.loss];
    const report = await runFailures({ players: 16, next: () => queue.shift() });
    expect(report).toMatchObject({
      lost: [],
      duplicated: [],
      undelivered: [],
      inconsistent: [],
      wallets: [],
      unexpectedResponses: [],
    });
    for (const { proxy, hosts } of report.failures)
      for (const { recoveredMs, rejected } of [proxy, hosts]) {
        // The test is meaningful only if requests were rejected.
        expect(rejected).toBeGreaterThan(0);
        expect(recoveredMs).toBeLessThan(60_000);
      }
  },
);
