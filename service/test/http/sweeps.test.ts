import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { setAccountRetention } from '../../src/store/account-retention.ts';
import type { Database } from '../../src/store/database.ts';
import { accountId, openTwinDatabase } from '../twin-accounts.ts';

// Two accounts may use the same key, such as an idempotency key. What is old in one of them may be new in the other.

const nowMs = Date.parse('2099-06-01T00:00:00Z');
const old = '2099-01-01T00:00:00Z';

const retention = { decisionsMs: undefined, auditMs: undefined, archiveDirectory: undefined };

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

const oldJob = `id = '${firstIdAt('job', 0)}'`;
const oldEntry = `id = '${firstIdAt('auditEntry', 0)}'`;

/** What makes a row old, and what the other account's row with its key gets, if it needs anything to have that key. */
test.each<[string, string, string?]>([
  ['idempotency_keys', `created_at = '${old}'`],
  ['secrets', `expires_at = '${old}'`],
  ['keys', `revoked_at = '${old}'`],
  ['sessions', `expires_at = '${old}'`],
  ['link_codes', `expires_at = '${old}'`],
  ['player_tokens', `used_at = '2090-01-01'`],
  ['user_links', `expires_at = '${old}'`],
  ['sign_in_attempts', `last_at = '${old}', known_until = NULL`],
  ['jobs', `${oldJob}, state = 'done'`, `${oldJob}, state = 'running'`],
  // The other account keeps its records forever.
  ['audit_entries', oldEntry, oldEntry],
  ['viewers', `seen_at = '${old}'`],
])('of %s, only the old row of an account is deleted', async (table, makeOld, makeTwin) => {
  const undo = new Error('undo');
  const rows: Record<'before' | 'old' | 'after', string[]> = { before: [], old: [], after: [] };
  const transaction = database.transaction(async (queries) => {
    const own: Database = { ...database, ...queries, transaction: (work) => work(queries) };
    const read = async (condition = 'true'): Promise<string[]> =>
      (
        await queries.query<{ row: string }>(
          `SELECT t::text AS row FROM ${table} AS t WHERE ${condition}`,
        )
      ).map(({ row }) => row);
    const first = (account: string): string =>
      `ctid = (SELECT ctid FROM ${table} WHERE account_id = '${account}' ORDER BY ${table}::text LIMIT 1)`;
    if (makeTwin !== undefined)
      await queries.query(`UPDATE ${table} SET ${makeTwin} WHERE ${first('acc_twin1')}`);
    const changed = await queries.query<{ row: string }>(
      `UPDATE ${table} AS t SET ${makeOld} WHERE ${first(accountId)} RETURNING t::text AS row`,
    );
    rows.old = changed.map(({ row }) => row);
    await setAccountRetention(queries, accountId, retention, { audit_days: 30 });
    rows.before = await read();
    await deleteOldRows(own, nowMs, retention, new AbortController().signal);
    rows.after = await read();
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(rows.before.filter((row) => !rows.after.includes(row))).toEqual(rows.old);
});
