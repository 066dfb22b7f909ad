import type { Database, Queries } from './database.ts';
import { withMigrationLock } from './migration-lock.ts';

/**
 * Tables for the whole service. They are stored on the coordinator, so that a worker failure doesn't affect every
 * account. All other tables are distributed by account.
 */
export const serviceTables: readonly string[] = [
  'archived_weeks',
  'chores',
  'config_versions',
  'limit_uses',
  'migrations',
  'sign_in_attempts',
  'sign_in_names',
  'uploads',
];
/** A table that is used only by migrations. Migrations run on the coordinator. */
const coordinatorOnly = 'migration_lock';

/** Returns this server's role in a Citus cluster, or undefined for a server without Citus. */
export async function readCitusRole(
  queries: Pick<Queries, 'query'>,
): Promise<'coordinator' | 'worker' | undefined> {
  const [citus] = await queries.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  if (!citus) return undefined;
  const [row] = await queries.query<{ coordinator: boolean }>(
    'SELECT citus_is_coordinator() AS coordinator',
  );
  return row?.coordinator === true ? 'coordinator' : 'worker';
}

/** A node of the cluster, as this server sees it. */
export interface CitusNode {
  /** Host and port. */
  address: string;
  responds: boolean;
  /** Whether the node should have shards, but has none. */
  isEmpty: boolean;
}

/** Checks all primary nodes in the cluster. Returns the coordinator first. */
export const checkCitusNodes = (queries: Pick<Queries, 'query'>): Promise<CitusNode[]> =>
  queries.query<CitusNode>(
    `SELECT nodename || ':' || nodeport AS address, citus_check_connection_to_node(nodename, nodeport) AS responds,
        shouldhaveshards AND NOT EXISTS (SELECT 1 FROM pg_dist_placement WHERE groupid = node.groupid) AS "isEmpty"
      FROM pg_dist_node node WHERE noderole = 'primary' ORDER BY groupid, address`,
  );

/** @throws Error when this server is a Citus worker. Schema changes would fail there or affect only that worker. */
export async function rejectWorker(queries: Pick<Queries, 'query'>): Promise<void> {
  if ((await readCitusRole(queries)) !== 'worker') return;
  throw new Error(
    'The schema must be changed, but this database is a Citus worker. Set DATABASE_ADMIN_URL to the coordinator.',
  );
}

/** Where a table is stored: distributed by account, or on the coordinator only. */
export type TablePlacement = 'by account' | 'coordinator';

interface DistributeOptions {
  /** Called before each table. */
  onDistribute: ((table: string, placement: TablePlacement) => void) | undefined;
  onWait: ((text: string) => void) | undefined;
  waitMs: number;
}

/**
 * Distributes tables that are not distributed yet, such as tables from new migrations. Does nothing if the server is
 * not a Citus coordinator.
 */
export async function distributeTables(
  database: Database,
  { onDistribute, onWait, waitMs }: DistributeOptions,
): Promise<void> {
  const { maintain } = database;
  if (!maintain || (await readCitusRole(database)) !== 'coordinator') return;
  if ((await listUndistributed(database)).length === 0) return;
  await withMigrationLock(database, { onWait, waitMs }, async () => {
    await maintain(await listRoleSettings(database), waitMs);
    // Lists the tables again, because another process may have distributed some of them before this one acquired the
    // lock. This transaction must not read from the tables, because `maintain` locks them on another connection.
    for (const table of await listUndistributed(database)) {
      onDistribute?.(table, serviceTables.includes(table) ? 'coordinator' : 'by account');
      await maintain([buildStatement(table)], waitMs);
    }
  });
}

/** Lists tables that are not distributed. `accounts` is first, because other tables are colocated with it. */
async function listUndistributed(queries: Pick<Queries, 'query'>): Promise<string[]> {
  const rows = await queries.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname <> $1 AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = pg_class.oid)
        AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
      ORDER BY relname <> 'accounts', relname`,
    [coordinatorOnly],
  );
  return rows.map(({ name }) => name);
}

function buildStatement(table: string): string {
  if (serviceTables.includes(table)) return `SELECT citus_add_local_table_to_metadata('${table}')`;
  const colocation = table === 'accounts' ? '' : `, colocate_with => 'accounts'`;
  return `SELECT create_distributed_table('${table}', 'account_id'${colocation})`;
}

/**
 * Returns statements that change the role's settings on all nodes. The first sets the lock timeout, because inter-node
 * connections don't inherit it from the session. The second makes `SET LOCAL` apply on all nodes, for transactions with
 * their own timeout.
 */
async function listRoleSettings(queries: Pick<Queries, 'query'>): Promise<string[]> {
  const [row] = await queries.query<{ timeout: string; database: string }>(
    `SELECT current_setting('lock_timeout') AS timeout, quote_ident(current_database()) AS database`,
  );
  if (!row) return [];
  const alterRole = `ALTER ROLE CURRENT_USER IN DATABASE ${row.database} SET`;
  return [
    `${alterRole} lock_timeout = '${row.timeout}'`,
    `${alterRole} citus.propagate_set_commands = 'local'`,
  ];
}
