import { expect, test, vi } from 'vitest';
import { distributeTables, serviceTables } from '../../src/store/citus.ts';
import type { Database } from '../../src/store/database.ts';

/** Simulates a Citus server, with the tables that are not distributed yet. */
function createServer(role: 'coordinator' | 'worker' | undefined, tables: string[]) {
  const statements: string[] = [];
  const query = async (text: string): Promise<unknown[]> => {
    if (text.includes('pg_extension')) return role === undefined ? [] : [{}];
    if (text.includes('citus_is_coordinator')) return [{ coordinator: role === 'coordinator' }];
    if (text.includes('pg_dist_partition')) return tables.map((name) => ({ name }));
    if (text.includes('lock_timeout')) return [{ timeout: '2s', database: 'ads' }];
    return [];
  };
  const database = {
    query,
    transaction: (work: (queries: unknown) => unknown) => work({ query }),
    maintain: async (more: string[]) => void statements.push(...more),
  } as unknown as Database;
  return { statements, database };
}

const options = { onWait: undefined, waitMs: 1_000 };

test('the service’s own tables stay on the coordinator, and all others are distributed by account', async () => {
  const tables = ['accounts', 'decisions', ...serviceTables];
  const { statements, database } = createServer('coordinator', tables);
  const onDistribute = vi.fn();
  await distributeTables(database, { ...options, onDistribute });
  expect(Object.fromEntries(onDistribute.mock.calls)).toEqual({
    accounts: 'by account',
    decisions: 'by account',
    ...Object.fromEntries(serviceTables.map((table) => [table, 'coordinator'])),
  });
  expect(
    statements.map((text) => text.replace(/^ALTER ROLE CURRENT_USER IN DATABASE /, '')),
  ).toEqual([
    `ads SET lock_timeout = '2s'`,
    `ads SET citus.propagate_set_commands = 'local'`,
    `SELECT create_distributed_table('accounts', 'account_id')`,
    `SELECT create_distributed_table('decisions', 'account_id', colocate_with => 'accounts')`,
    ...serviceTables.map((table) => `SELECT citus_add_local_table_to_metadata('${table}')`),
  ]);
});

test.each<[string, ReturnType<typeof createServer>]>([
  ['without Citus', createServer(undefined, ['decisions'])],
  ['that is a worker', createServer('worker', ['decisions'])],
  ['that has distributed all tables', createServer('coordinator', [])],
])('nothing is changed on a server %s', async (_, { statements, database }) => {
  await distributeTables(database, { ...options, onDistribute: () => expect.unreachable() });
  expect(statements).toEqual([]);
});
