import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInspectDecision } from '../../src/inspect/inspect-decision.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { accountReads } from '../reads/account-reads.ts';
import { operationReads } from '../reads/operation-reads.ts';
import { hasChanged, playerReads } from '../reads/player-reads.ts';
import type { ReadCase } from '../reads/read-case.ts';
import { accountId, ids, openTwinDatabase, scope } from '../twin-accounts.ts';

/*
 * Each read must return only the rows it is for: something, and nothing once these rows belong to the account's other
 * environment, are archived or, if the table has no environments, are deleted. A read that then still returns something
 * has lost a term of its condition. See twin-accounts.ts.
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

/** Moves rows of the account to its other environment. Deletes them if the table has none, or if both are read. */
async function moveAway(
  queries: Queries,
  { of, inBoth = false }: Pick<ReadCase, 'of' | 'inBoth'>,
): Promise<void> {
  for (const [table, condition] of Object.entries(of)) {
    const rows = `account_id = '${accountId}' AND ${condition}`;
    if (inBoth || !withEnvironments.has(table)) {
      await queries.query(`DELETE FROM ${table} WHERE ${rows}`);
      continue;
    }
    await queries.query(`DELETE FROM ${table} WHERE ${rows} AND environment = 'live'`);
    await queries.query(`UPDATE ${table} SET environment = 'live' WHERE ${rows}`);
  }
}

const archive = (queries: Queries, { of }: Pick<ReadCase, 'of'>): Promise<unknown> =>
  queries.query(
    `UPDATE resources SET archived_at = created_at WHERE account_id = '${accountId}' AND ${of['resources']}`,
  );

test.each(Object.entries({ ...accountReads, ...playerReads, ...operationReads }))(
  'reading %s reads no other row, and no archived object',
  async (_, row) => {
    const removals = [moveAway, ...('resources' in row.of ? [archive] : [])];
    for (const remove of removals) {
      const undo = new Error('undo');
      const results: unknown[] = [];
      const transaction = database.transaction(async (queries) => {
        const own: Database = { ...database, ...queries, transaction: (work) => work(queries) };
        for (const statement of row.prepare ?? []) await queries.query(statement);
        results.push(await row.read(own));
        await remove(queries, row);
        results.push(await row.read(own));
        throw undo;
      });
      await expect(transaction).rejects.toBe(undo);
      expect(results.map(isNothing), JSON.stringify(results)).toEqual([false, true]);
    }
  },
);

test('the events of an inspected decision are in the order in which they occurred', async () => {
  const undo = new Error('undo');
  let types: unknown;
  const [decisionId = ''] = ids('decision', 1);
  const transaction = database.transaction(async (queries) => {
    // The end was received first, and the start last. They occurred 90 ms, 80 ms and 70 ms before the first arrival.
    await queries.query('DELETE FROM webhook_events');
    await queries.query('UPDATE timelines SET events = $1', [
      JSON.stringify([0, ['1', 'c', 0, 70, 0], ['2', 'i', 5, 85, 0], ['3', 's', 9, 99, 0]]),
    ]);
    const inspect = createInspectDecision({
      database: queries,
      eventBodies: { open: (text: string) => text },
      readReward: async () => undefined,
    } as never);
    types = (await inspect(scope, decisionId))?.events.map(
      (event) => 'type' in event && event.type,
    );
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(types).toEqual(['start', 'impression', 'complete']);
});

test('a reward in the state that the client knows has not changed', async () => {
  const [decisionId = ''] = ids('decision', 1);
  const [row] = await database.query<{ state: string }>(
    `SELECT reward_state AS state FROM decisions WHERE id = $1 AND account_id = $2 AND environment = $3`,
    [decisionId, accountId, scope.environment],
  );
  expect(await hasChanged(database, row?.state)).toBeUndefined();
});
