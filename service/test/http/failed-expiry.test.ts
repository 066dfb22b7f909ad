import { afterAll, beforeAll, expect, test } from 'vitest';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import type { Database } from '../../src/store/database.ts';
import { createManualClock } from '../manual-clock.ts';
import { accountId, openTwinDatabase } from '../twin-accounts.ts';

const otherAccountId = 'acc_twin1';
const clock = createManualClock(Date.parse('2000-01-04T00:00:00Z'));

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
  await database.query(
    `UPDATE decisions SET reward_state = 'pending', issued_at = $1, expires_at = $1, late_at = $1,
        served_at = NULL, settled_at = NULL, watch_from = NULL, watch_to = NULL
      WHERE account_id IN ($2, $3)`,
    ['2000-01-03', accountId, otherAccountId],
  );
  await database.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused'; END $$`,
  );
  await database.query(
    `CREATE TRIGGER refuse BEFORE UPDATE ON decisions FOR EACH ROW
      WHEN (OLD.account_id = '${accountId}') EXECUTE FUNCTION refuse()`,
  );
});
afterAll(async () => {
  // Tests take turns with a worker's database, of which only the rows are deleted.
  await database.query('DROP TRIGGER refuse ON decisions');
  await database.query('DROP FUNCTION refuse()');
  await database.close();
});

const countDue = async (account: string): Promise<number> => {
  const rows = await database.query(
    `SELECT FROM decisions WHERE account_id = $1 AND reward_state = 'pending'`,
    [account],
  );
  return rows.length;
};

test('an account whose rewards can’t expire is named once, and keeps no other account’s from it', async () => {
  const [due, otherDue] = [await countDue(accountId), await countDue(otherAccountId)];
  expect(Math.min(due, otherDue)).toBeGreaterThan(0);
  const failures: unknown[] = [];
  const expired = await expireRewards(database, clock, (...failure) => void failures.push(failure));
  expect(failures).toEqual([[accountId, expect.objectContaining({ message: 'refused' })]]);
  expect(expired.length).toBeGreaterThanOrEqual(otherDue);
  expect([await countDue(accountId), await countDue(otherAccountId)]).toEqual([due, 0]);
});

test('without a listener, a failure is an error', async () => {
  await expect(expireRewards(database, clock)).rejects.toThrow('refused');
});
