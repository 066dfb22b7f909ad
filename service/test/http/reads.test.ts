import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { accountReads } from '../reads/account-reads.ts';
import { operationReads } from '../reads/operation-reads.ts';
import { playerReads } from '../reads/player-reads.ts';
import { accountId, openTwinDatabase } from '../twin-accounts.ts';

/*
 * Each read must return only the rows it is for: something, and nothing once these rows belong to the account's other
 * environment or, if the table has no environments, are deleted. A read that then still returns something has lost a
 * term of its condition. See twin-accounts.ts.
 */

let database: Database;
let withEnvironments: Set<string>;
beforeAll(async () => {
  database = await openTwinDatabase();
  const tables = await database.query<{ name: string }>(
    `SELECT DISTINCT attrelid::regclass::text AS name FROM pg_attribute WHERE attname = 'environment'`,
  );
  withEnvironments = new Set(tables.map((table) => table.name));
});
afterAll(() => database.close());

/** Whether a read has returned nothing. */
const isNothing = (result: unknown): boolean =>
  result === undefined ||
  result === 0 ||
  (result instanceof Map && result.size === 0) ||
  (Array.isArray(result) && result.length === 0);

test.each(Object.entries({ ...accountReads, ...playerReads, ...operationReads }))(
  'reading %s reads no other row',
  async (_, row) => {
    const { prepare = [], read, of, inBoth = false } = row;
    const undo = new Error('undo');
    const results: unknown[] = [];
    const transaction = database.transaction(async (queries) => {
      const own: Database = { ...database, ...queries, transaction: (work) => work(queries) };
      for (const statement of prepare) await queries.query(statement);
      results.push(await read(own));
      for (const [table, condition] of Object.entries(of)) {
        const rows = `${table} WHERE account_id = '${accountId}' AND ${condition}`;
        if (inBoth || !withEnvironments.has(table)) await queries.query(`DELETE FROM ${rows}`);
        else {
          await queries.query(`DELETE FROM ${rows} AND environment = 'live'`);
          await queries.query(
            `UPDATE ${table} SET environment = 'live' WHERE ${rows.split(' WHERE ')[1]}`,
          );
        }
      }
      results.push(await read(own));
      throw undo;
    });
    await expect(transaction).rejects.toBe(undo);
    expect(results.map(isNothing), JSON.stringify(results)).toEqual([false, true]);
  },
);
