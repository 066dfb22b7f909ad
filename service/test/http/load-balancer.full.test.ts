import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../faults/cluster.ts';
import { createEmptyPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { createClient } from './client.ts';

const binary = '/usr/sbin/nginx';
const config = new URL('../../../deploy/nginx.conf', import.meta.url);

/** Starts nginx with the configuration from deploy/, but with local processes as its upstreams. */
async function startBalancer(urls: readonly string[]): Promise<{ url: string; log: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-nginx-'));
  const port = await getPort({ host: '127.0.0.1' });
  let text = readFileSync(config, 'utf8')
    // Removes `resolve`, which requires nginx 1.27.3. This test's upstreams have no hostnames.
    .replaceAll(/:8700 resolve/g, ':8700')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('/tmp/nginx.pid', join(folder, 'nginx.pid'));
  ['service-a', 'service-b'].forEach((name, index) => {
    text = text.replace(`${name}:8700`, new URL(urls[index] ?? urls[0] ?? '').host);
  });
  writeFileSync(join(folder, 'nginx.conf'), `daemon off;\n${text}`);
  const nginx = spawn(binary, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  nginx.stderr.setEncoding('utf8').on('data', (text: string) => log.push(text));
  onTestFinished(async () => {
    await terminate(nginx);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  // nginx does not report when it is ready.
  await expect.poll(() => fetch(`${url}/healthz`).then(({ status }) => status, String)).toBe(200);
  return { url, log };
}

const terminate = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });

test('the load balancer in deploy/ hides the loss of a process from players', async ({ skip }) => {
  if (!existsSync(binary)) return skip('nginx is not installed.');
  if (!hasPostgres) return skip('PostgreSQL is not installed.');
  const cluster = await startCluster({
    databaseUrl: await createEmptyPostgresDatabase(),
    processes: 2,
    env: {
      DRAIN_S: '1',
      TRUSTED_PROXIES: 'loopback',
      // Long enough that a slow database on a busy machine is not considered unreachable.
      DATABASE_TIMEOUT_S: '30',
    },
  });
  onTestFinished(async () => void (await cluster.stop()));
  const { url, log } = await startBalancer(cluster.urls);
  const client = createClient({ url, keys: cluster.keys });
  const statuses: number[] = [];
  const requestOnce = async (): Promise<void> => {
    const { status } = await client.decide({
      placement: 'lobby',
      user_ref: `p${statuses.length}`,
    });
    statuses.push(status);
  };
  const requestUntil = async (change: Promise<unknown>): Promise<void> => {
    let isPending = true;
    void change.finally(() => (isPending = false));
    while (isPending) await requestOnce();
  };
  const stopResult = cluster.service(0).stop();
  await requestUntil(stopResult);
  expect(await stopResult).toBe(0);
  await cluster.replace(0);
  // The load balancer sends every request to the other process until it retries this one.
  const hasServed = async (): Promise<boolean> =>
    (await (await fetch(`${cluster.urls[0]}/metrics`)).text()).includes('route="/v1/decisions"');
  do await requestOnce();
  while (!(await hasServed()));
  const killResult = cluster.service(1).kill();
  await requestUntil(killResult);
  for (let request = 0; request < 50; request += 1) await requestOnce();
  expect(statuses.length).toBeGreaterThan(52);
  expect(new Set(statuses), log.join('')).toEqual(new Set([200]));

  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  await cluster.service(0).kill();
  const unavailableResponse = await client.decide({ placement: 'lobby', user_ref: 'p' });
  expect(unavailableResponse.status).toBe(503);
  expect(unavailableResponse.body).toMatchObject({ code: 'unavailable', status: 503 });
  expect(unavailableResponse.headers.get('content-type')).toBe('application/problem+json');
  expect(unavailableResponse.headers.get('retry-after')).toBe('2');
});

test("a player's IP comes from the trusted proxy", async ({ skip }) => {
  if (!existsSync(binary)) return skip('nginx is not installed.');
  const receivedIps: unknown[] = [];
  const service = createServer((request, response) => {
    receivedIps.push(request.headers['x-forwarded-for']);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => void service.close());
  const { port } = service.address() as AddressInfo;
  const { url } = await startBalancer([`http://127.0.0.1:${port}`]);
  receivedIps.length = 0;
  for (const headerValue of ['203.0.113.9', '198.51.100.7, 203.0.113.9'])
    await fetch(`${url}/v1/placements`, { headers: { 'x-forwarded-for': headerValue } });
  expect(receivedIps).toEqual(['203.0.113.9', '203.0.113.9']);
});
