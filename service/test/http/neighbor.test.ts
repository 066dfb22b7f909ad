import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database, Queries } from '../../src/store/database.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { findNeighborChanges } from '../neighbor.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

const readTables = async (queries: Queries): Promise<string[]> =>
  (
    await queries.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition AND relname NOT IN ('migrations', 'migration_lock') ORDER BY relname`,
    )
  ).map(({ name }) => name);

/** Runs `work` in a transaction in which the database has users, and undoes its changes. */
async function rehearse<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
  const results: T[] = [];
  const undo = new Error('undo');
  const transaction = database.transaction(async (queries) => {
    await queries.query(
      `INSERT INTO users (account_id, id, email, name, role, created_at)
        VALUES ('acc_1', 'usr_1', 'first@example.com', 'First', 'owner', now())`,
    );
    results.push(await work(queries));
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  const [result] = results;
  if (result === undefined) throw new Error('The transaction returned nothing.');
  return result;
}

test('the neighbor has three rows in every table and of every kind, in both environments', async () => {
  const { tables, neighbors, kinds } = await rehearse(async (queries) => ({
    tables: await readTables(queries),
    neighbors: await queries.query<{ name: string; rows: number }>(
      `SELECT name, split_part(tally, ' ', 1)::integer AS rows FROM neighbor.tallies ORDER BY name`,
    ),
    kinds: await queries.query(
      `SELECT kind, environment FROM resources GROUP BY kind, environment HAVING count(*) = 3`,
    ),
  }));
  expect(neighbors.map(({ name }) => name)).toEqual(tables);
  expect(neighbors.filter(({ rows }) => rows < 3)).toEqual([]);
  expect(kinds).toHaveLength(9 * 2);
});

test('a deleted and a changed row of the neighbor are found', async () => {
  const { tables, unchanged, deleted, changed } = await rehearse(async (queries) => {
    const allTables = await readTables(queries);
    const before = await findNeighborChanges(queries);
    await queries.query(`UPDATE keys SET last_used_at = now() WHERE environment = 'live'`);
    const afterUpdate = await findNeighborChanges(queries);
    for (const table of allTables)
      await queries.query(
        `DELETE FROM ${table} WHERE (tableoid, ctid) = (SELECT tableoid, ctid FROM ${table} AS t
          WHERE t::text LIKE '%nextd00r%' LIMIT 1)`,
      );
    const afterDelete = await findNeighborChanges(queries);
    return { tables: allTables, unchanged: before, changed: afterUpdate, deleted: afterDelete };
  });
  expect({ unchanged, changed, deleted }).toEqual({
    unchanged: [],
    changed: ['keys'],
    deleted: tables,
  });
});
