import type { Queries } from '../src/store/database.ts';
import { addTenant, makeId, type Tenant } from './tenant-rows.ts';

/**
 * The neighbor is a second tenant in the tests' databases: further accounts with rows in every table, in both
 * environments. No test addresses these rows, so a statement that changes them has lost a term of its condition. They
 * are dated decades ahead, so that no chore has a reason to change them.
 */

/** Every neighbor row has this text in its primary key. The text is valid in an id. */
const marker = 'nextd00r';
/** Returns a condition for tests that read a whole table. It excludes the neighbor's rows. */
export const ownRowsBy = (column: string): string => `${column} NOT LIKE '%${marker}%'`;
export const ownRows = ownRowsBy('account_id');

const neighbor: Tenant = {
  marker,
  accountId: (n) => makeId('account', { tenant: neighbor, environment: 'sandbox', n }),
};

/** Adds the neighbor to a migrated database, and the functions with which {@link findNeighborChanges} finds changes. */
export async function plantNeighbor(queries: Queries): Promise<void> {
  for (const statement of functions) await queries.query(statement);
  await addTenant(queries, neighbor, (table) =>
    queries.query('INSERT INTO neighbor.tallies SELECT $1, neighbor.tally($1)', [table]),
  );
  for (const statement of postponeUsers) await queries.query(statement);
}

const functions = [
  'CREATE SCHEMA neighbor',
  'CREATE TABLE neighbor.tallies (name text PRIMARY KEY, tally text NOT NULL)',
  // A condition that selects a table's neighbor rows.
  `CREATE FUNCTION neighbor.condition(name regclass) RETURNS text LANGUAGE sql AS $$
    SELECT format('concat_ws('' '', %s) LIKE ''%%${marker}%%''', string_agg(quote_ident(attname), ', '))
      FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
      WHERE indrelid = name AND indisprimary $$`,
  `CREATE FUNCTION neighbor.tally(name text) RETURNS text LANGUAGE plpgsql SET timezone = 'UTC' AS $$
    DECLARE tally text;
    BEGIN
      EXECUTE format('SELECT concat(count(*), '' rows '', md5(string_agg(t::text, '' '' ORDER BY t::text COLLATE "C")))
        FROM public.%I AS t WHERE %s', name, neighbor.condition(format('public.%I', name)::regclass)) INTO tally;
      RETURN tally;
    END $$`,
];

/**
 * Moves the neighbor's users to a trigger, which adds them with the database's first user: while a service has no users
 * at all, it prints the link for its first owner.
 */
const postponeUsers = [
  `CREATE TABLE neighbor.users AS SELECT *, (SELECT tally FROM neighbor.tallies WHERE name = 'users') FROM public.users`,
  'DELETE FROM public.users',
  `DELETE FROM neighbor.tallies WHERE name = 'users'`,
  `ALTER TABLE neighbor.users RENAME COLUMN tally TO neighbor_tally`,
  `CREATE FUNCTION neighbor.add_users() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.users
        SELECT (jsonb_populate_record(NULL::public.users, to_jsonb(row))).* FROM neighbor.users AS row
        WHERE NOT EXISTS (SELECT FROM neighbor.tallies WHERE name = 'users');
      INSERT INTO neighbor.tallies SELECT 'users', neighbor_tally FROM neighbor.users LIMIT 1 ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER neighbor AFTER INSERT ON public.users WHEN (pg_trigger_depth() = 0)
    EXECUTE FUNCTION neighbor.add_users()`,
];

/** Deletes all rows except the neighbor's, and all weekly partitions. */
export const emptyTables = `DO $$
  DECLARE
    name regclass;
    week boolean;
  BEGIN
    FOR name, week IN SELECT oid, relispartition AND relname NOT LIKE '%_other' FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname NOT IN ('migrations', 'migration_lock') LOOP
      EXECUTE CASE WHEN week THEN format('DROP TABLE %s', name)
        WHEN name = 'users'::regclass THEN 'DELETE FROM users'
        ELSE format('DELETE FROM %s WHERE NOT (%s)', name, neighbor.condition(name)) END;
    END LOOP;
    DELETE FROM neighbor.tallies WHERE tallies.name = 'users';
  END $$`;

/** Returns the tables in which the neighbor's rows have changed since they were planted. */
export async function findNeighborChanges(queries: Pick<Queries, 'query'>): Promise<string[]> {
  const rows = await queries.query<{ name: string }>(
    'SELECT name FROM neighbor.tallies WHERE neighbor.tally(name) <> tally ORDER BY name',
  );
  return rows.map(({ name }) => name);
}

/** Checks of the databases that the running test file uses, by name. */
const checks = new Map<string, () => Promise<string[]>>();

/** Adds a database whose neighbor must be unchanged at the end of the test file. */
export function watchNeighbor(name: string, findChanges: () => Promise<string[]>): void {
  checks.set(name, findChanges);
}

/**
 * Checks the databases of the test file that has ended.
 *
 * @throws Error with the tables in which a test changed the neighbor.
 */
export async function checkNeighbors(): Promise<void> {
  const databases = [...checks];
  checks.clear();
  const changes: string[] = [];
  for (const [name, findChanges] of databases) {
    const tables = await findChanges();
    if (tables.length > 0) changes.push(`${tables.join(', ')} (in ${name})`);
  }
  if (changes.length > 0)
    throw new Error(
      `A test in this file changed rows of the neighbor, which is another account: ${changes.join('; ')}. ` +
        'Restrict the statement to the rows it is for. If the test changes all accounts on purpose, use an empty database.',
    );
}
