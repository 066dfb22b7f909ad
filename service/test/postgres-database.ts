import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Whether the machine has PostgreSQL; tests that need it are skipped otherwise. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Creates an empty database on this run's PostgreSQL server and returns its URL. It is deleted with the server.
 * Tests that disturb the whole server start their own with `startPrivatePostgres`.
 *
 * @param settings session defaults, such as `{ timezone: 'Asia/Tokyo' }`
 * @throws Error if there is no PostgreSQL: check {@link hasPostgres} first.
 */
export async function createPostgresDatabase(
  settings: Record<string, string> = {},
): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('This machine has no PostgreSQL.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client(server);
  await admin.connect();
  try {
    const nodes = await listCitusNodes(admin);
    if (nodes.length > 0) await createOnCluster(server, nodes, name);
    else await admin.query(`CREATE DATABASE ${name}`);
    for (const [setting, value] of Object.entries(settings))
      await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${pg.escapeLiteral(value)}`);
  } finally {
    await admin.end();
  }
  return server.replace(/[^/]*$/, name);
}

interface Node {
  host: string;
  port: number;
  isCoordinator: boolean;
}

/** The nodes of the Citus cluster; none if the server has no Citus. */
async function listCitusNodes(admin: pg.Client): Promise<Node[]> {
  const { rowCount } = await admin.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  if (rowCount === 0) return [];
  const { rows } = await admin.query<Node>(
    `SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node
      WHERE noderole = 'primary' ORDER BY groupid`,
  );
  return rows;
}

/** Creates a database on every node, and connects them. */
async function createOnCluster(
  server: string,
  nodes: readonly Node[],
  name: string,
): Promise<void> {
  const run = async (node: Node, database: string, statements: readonly string[]) => {
    const url = Object.assign(new URL(server), {
      hostname: node.host,
      port: String(node.port),
      pathname: `/${database}`,
    });
    const client = new pg.Client(url.href);
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const existing = new URL(server).pathname.slice(1);
  const alone = 'SET citus.enable_create_database_propagation = off';
  for (const node of nodes) {
    await run(node, existing, [alone, `CREATE DATABASE ${name}`]);
    await run(node, name, ['CREATE EXTENSION citus']);
  }
  for (const coordinator of nodes.filter(({ isCoordinator }) => isCoordinator))
    await run(coordinator, name, [
      `SELECT citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
      ...nodes
        .filter(({ isCoordinator }) => !isCoordinator)
        .map(({ host, port }) => `SELECT citus_add_node('${host}', ${port})`),
    ]);
}

/** Environment variables for a separate database: on the PostgreSQL server if there is one, else embedded, which is slower. */
export const ownDatabase = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createPostgresDatabase() } : {};
