import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUsageStore } from '../../src/http/limits/open-rate-limits.ts';
import type { Database } from '../../src/store/database.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createManualClock } from '../manual-clock.ts';

// What the processes tell each other of their rate limits' usage.

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

test('usage that a process has not repeated is read for five seconds, and deleted by one of its later writes', async () => {
  const clock = createManualClock(Date.parse('2026-06-01T12:00:00Z'));
  const [own, other] = ['own', 'other'].map((id) => createUsageStore(database, id, clock));
  const write = async (times: number) => {
    for (let count = 0; count < times; count += 1) await own?.write([{ name: 'b', uses: count }]);
  };
  const readA = async () => (await other?.read(['a']))?.uses.map(({ uses }) => uses);
  const stored = () => database.query(`SELECT 1 FROM limit_uses WHERE name = 'a'`);
  await own?.write([{ name: 'a', uses: 7 }]);
  // Every 60th write deletes what is older.
  await write(60);
  expect(await readA()).toEqual([7]);
  clock.advance(4_999);
  await write(60);
  expect(await readA()).toEqual([7]);
  clock.advance(1);
  expect(await readA()).toEqual([]);
  await write(60);
  expect(await stored()).toHaveLength(1);
  clock.advance(1);
  await write(60);
  expect(await stored()).toHaveLength(0);
});
