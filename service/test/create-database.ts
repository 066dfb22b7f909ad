import pg from 'pg';

/**
 * Creates a database and returns its URL. In a Citus cluster, creates the database on every node.
 *
 * @param server the URL of any database on the server. In a Citus cluster, the server must be the coordinator.
 * @param settings session defaults, such as `{ timezone: 'Asia/Tokyo' }`
 * @param template the database to copy, to which nothing may be connected. In a Citus cluster, this has no effect.
 */
export async function createDatabaseOn(
  server: string,
  name: string,
  settings: Record<string, string> = {},
  template = 'template1',
): Promise<string> {
  const admin = new pg.Client(server);
  await admin.connect();
  try {
    const nodes = await listCitusNodes(admin);
    if (nodes.length > 0) await createOnCluster(server, nodes, name);
    else await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    for (const [setting, value] of Object.entries(settings))
      await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${pg.escapeLiteral(value)}`);
  } finally {
    await admin.end();
  }
  return server.replace(/[^/]*$/, name);
}

/** A node of a Citus cluster. */
interface CitusNode {
  host: string;
  port: number;
  isCoordinator: boolean;
}

/** Lists the Citus cluster's nodes. Returns an empty array if Citus is not installed. */
async function listCitusNodes(admin: pg.Client): Promise<CitusNode[]> {
  const { rowCount } = await admin.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  if (rowCount === 0) return [];
  const { rows } = await admin.query<CitusNode>(
    `SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node
      WHERE noderole = 'primary' ORDER BY groupid`,
  );
  return rows;
}

/** Creates a database on every node and joins these databases into one cluster. */
async function createOnCluster(
  server: string,
  nodes: readonly CitusNode[],
  name: string,
): Promise<void> {
  const run = async (node: CitusNode, database: string, statements: readonly string[]) => {
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
  const existingName = new URL(server).pathname.slice(1);
  const disablePropagation = 'SET citus.enable_create_database_propagation = off';
  for (const node of nodes) {
    await run(node, existingName, [disablePropagation, `CREATE DATABASE ${name}`]);
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
