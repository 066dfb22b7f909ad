import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../faults/cluster.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { createClient } from './client.ts';

const binary = '/usr/sbin/pgbouncer';

test('two processes can share a pooler that has fewer connections than their pools', async ({
  skip,
}) => {
  if (!existsSync(binary)) return skip('PgBouncer is not installed.');
  const postgres = await startPrivatePostgres();
  if (!postgres) return skip('PostgreSQL is not installed.');
  const folder = mkdtempSync(join(tmpdir(), 'trueward-pooler-'));
  chmodSync(folder, 0o755);
  const port = await getPort({ host: '127.0.0.1' });
  const settings = `[databases]
* = host=127.0.0.1 port=${new URL(postgres.url).port} user=trueward
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
`;
  writeFileSync(join(folder, 'pgbouncer.ini'), settings);
  // PgBouncer refuses to run as root.
  const uid = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
  const pooler = spawn(binary, [join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
    ...(process.getuid?.() === 0 ? { uid } : {}),
  });
  const poolerExit = new Promise((resolve) => pooler.once('exit', resolve));
  // The service cannot start until the pooler accepts connections.
  await expect.poll(() => acceptsConnections(port)).toBe(true);
  const cluster = await startCluster({
    databaseUrl: postgres.url.replace(/:\d+\//, `:${port}/`),
    processes: 2,
    env: { DATABASE_POOLER: 'transaction' },
  });
  onTestFinished(async () => {
    await cluster.stop();
    pooler.kill();
    await poolerExit;
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const clients = cluster.urls.map((url) => createClient({ url, keys: cluster.keys }));
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const client = clients[index % 2] ?? clients[0];
      if (!client) throw new Error('Expected a process.');
      const decision = await client.decideImage(`player-${index}`);
      return (await client.reportStart(decision)).body.results[0]?.status;
    }),
  );
  expect(statuses).toEqual(Array(40).fill('accepted'));
});

/** Whether the port accepts connections. */
const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });
