import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDemandState } from '../../src/http/monitoring/demand-metrics.ts';
import type { Database } from '../../src/store/database.ts';
import { createManualClock } from '../manual-clock.ts';
import { accountId, openTwinDatabase } from '../twin-accounts.ts';

/** An hour before all other requests are due. */
const nowMs = Date.parse('2099-05-31T23:00:00Z');

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

test.each([
  [-90_000, 90],
  [0, 0],
  [90_000, 0],
])('a tracker request that is due in %i ms has been overdue for %i s', async (inMs, overdueS) => {
  await database.query(
    `UPDATE tracker_requests SET state = 'pending', next_at = $1 WHERE account_id = $2`,
    [new Date(nowMs + inMs), accountId],
  );
  const registry = new Registry();
  const clock = createManualClock(nowMs);
  addDemandState(registry, { database, intake: { jobs: () => ({}) }, clock } as never);
  await registry.metrics(); // One gauge is set by another.
  const text = await registry.metrics();
  expect(Number(/^trueward_tracker_overdue_seconds (.+)$/m.exec(text)?.[1])).toBe(overdueS);
});
