import type { Problem } from '@trueward/protocol/wire';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { startTcpProxy } from '../faults/tcp-proxy.ts';
import { startInProcess } from '../in-process.ts';
import { startPrivatePostgres } from '../private-postgres.ts';
import { createClient } from './client.ts';

const postgres = await startPrivatePostgres();
afterAll(() => postgres?.stop());

/** Starts a service whose database connection the test can break. */
async function start() {
  const proxy = await startTcpProxy(Number(new URL(postgres?.url ?? '').port));
  const runningService = await startInProcess({
    DATABASE_URL: (postgres?.url ?? '').replace(/:\d+\//, `:${proxy.port}/`),
    DATABASE_TIMEOUT_S: '1',
    // Services with a shared database need the same master key.
    TRUEWARD_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  });
  const client = createClient(runningService);
  const decide = () =>
    client.call<Problem>('POST', '/v1/decisions', client.publishable, { placement: 'lobby' });
  const readStatus = async (path: string) => (await client.call('GET', path, client.secret)).status;
  const readMetric = async (name: string) =>
    new RegExp(`^${name} (\\S+)$`, 'm').exec(
      await (await fetch(`${runningService.url}/metrics`)).text(),
    )?.[1];
  return {
    client,
    runningService,
    proxy,
    decide,
    readStatus,
    readMetric,
    /** Resolves when decisions succeed again. */
    waitForRecovery: () =>
      expect.poll(async () => (await decide()).status, { timeout: 30_000 }).toBe(200),
    async stop() {
      await runningService.stop();
      await proxy.close();
    },
  };
}

describe.skipIf(postgres === undefined)('on PostgreSQL', () => {
  test('requests fail fast while the database is unresponsive', async () => {
    const service = await start();
    service.proxy.stall();
    const firstResponse = await service.decide();
    expect([firstResponse.status, firstResponse.body.code]).toEqual([503, 'unavailable']);
    // Further requests fail fast, without reaching the database.
    const rejections = await Promise.all(Array.from({ length: 100 }, service.decide));
    expect(new Set(rejections.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Number(rejections[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await service.readStatus('/healthz')).toBe(200);
    expect(await service.readStatus('/readyz')).toBe(503);
    expect(await service.readStatus('/.well-known/jwks.json')).toBe(200);
    expect(await service.readMetric('trueward_database_up')).toBe('0');
    service.proxy.restore();
    service.proxy.resetConnections();
    await service.waitForRecovery();
    // Each connection finds out for itself that it was reset.
    await expect.poll(() => service.readStatus('/readyz')).toBe(200);
    await expect.poll(() => service.readMetric('trueward_database_up')).toBe('1');
    await service.stop();
  });

  test('reads succeed and writes fail while the database is read-only', async () => {
    const service = await start();
    const admin = new pg.Client(postgres?.url);
    await admin.connect();
    const setReadOnly = async (value: 'on' | 'off') => {
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await admin.query('SELECT pg_reload_conf()');
    };
    await setReadOnly('on');
    await expect.poll(async () => (await service.decide()).status).toBe(503);
    expect(await service.readStatus('/v1/placements')).toBe(200);
    expect((await service.client.call('GET', '/readyz')).body).toEqual({ status: 'read_only' });
    expect(await service.readMetric('trueward_database_read_only')).toBe('1');
    await admin.query('SET default_transaction_read_only = off');
    await setReadOnly('off');
    await service.waitForRecovery();
    await admin.end();
    await service.stop();
  });

  test('requests fail while no synchronous standby confirms commits', async () => {
    const service = await start();
    const admin = new pg.Client(postgres?.url);
    await admin.connect();
    const requireStandby = async (name: string) => {
      await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await admin.query('SELECT pg_reload_conf()');
      await expect
        .poll(async () => (await admin.query('SHOW synchronous_standby_names')).rows)
        .toEqual([{ synchronous_standby_names: name }]);
    };
    await requireStandby('missing');
    const firstResponse = await service.decide();
    expect([firstResponse.status, firstResponse.body.code]).toEqual([503, 'unavailable']);
    // A commit keeps waiting after its client has timed out, so the service must not start more commits.
    const countWaitingCommits = async () =>
      (await admin.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rowCount;
    const waitingCommits = await countWaitingCommits();
    const rejections = await Promise.all(Array.from({ length: 20 }, service.decide));
    expect(new Set(rejections.map(({ status }) => status))).toEqual(new Set([503]));
    expect(await countWaitingCommits()).toBe(waitingCommits);
    await requireStandby('');
    await service.waitForRecovery();
    await admin.end();
    await service.stop();
  });

  test('a draining process is not ready but still serves requests', async () => {
    const service = await start();
    service.runningService.service.drain();
    expect(await service.readStatus('/readyz')).toBe(503);
    const response = await service.decide();
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await service.stop();
  });
});
