import { randomUUID } from 'node:crypto';
import type { Problem, Source } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecretBox } from '../../src/access/secret-box.ts';
import { createRequestHeaders } from '../../src/resource/request-headers.ts';
import { toExternalSource } from '../../src/resource/resource.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess();
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const apiKey = 'Bearer 7f3c-very-secret';
const bidder = { name: 'Bidder', kind: 'openrtb', endpoint_url: 'https://bid.example/rtb' };

const create = async (fields: object = {}): Promise<Source> => {
  const { status, body } = await client.call<Source>(
    'POST',
    '/v1/sources',
    client.secret,
    { ...bidder, ...fields },
    { 'idempotency-key': randomUUID() },
  );
  expect(status).toBe(201);
  return body;
};
const update = <T = Source>(id: string, change: object) =>
  client.call<T>('PATCH', `/v1/sources/${id}`, client.secret, change);

test('request header values are encrypted and not returned', async () => {
  const headers = { Authorization: apiKey, 'X-Account': 'account-93' };
  const source = await create({ request_headers: headers });
  expect(source.request_header_names).toEqual(['Authorization', 'X-Account']);
  const changedSource = await update(source.id, {
    request_headers: { Authorization: `${apiKey}-2` },
  });
  expect(changedSource.body.request_header_names).toEqual(['Authorization']);
  const responses = await Promise.all(
    [`/v1/sources/${source.id}`, '/v1/sources', '/v1/audit-entries?limit=20'].map((path) =>
      client.call<object>('GET', path, client.secret),
    ),
  );
  const tables = ['resources', 'audit_entries', 'secrets', 'webhook_events', 'idempotency_keys'];
  const rows = await Promise.all(
    tables.map((table) => runningService.service.database.query(`SELECT * FROM ${table}`)),
  );
  const allOutput = JSON.stringify([source, changedSource, responses, rows]);
  expect(allOutput).toContain(source.id);
  expect(allOutput).not.toContain('very-secret');
  expect(allOutput).not.toContain('account-93');
});

test.each<[object, string]>([
  [{ Host: 'other.example' }, '/request_headers'],
  [{ 'Content-Length': '1' }, '/request_headers'],
  [{ 'X-Key': 'a', 'x-key': 'b' }, '/request_headers'],
  [{ 'X-Key': 'a\r\nX-Other: b' }, '/request_headers/X-Key'],
  [{ 'X Key': 'a' }, '/request_headers'],
])('the request headers %j are rejected', async (headers, pointer) => {
  const { status, body } = await client.call<Problem>('POST', '/v1/sources', client.secret, {
    ...bidder,
    request_headers: headers,
  });
  expect([status, body.errors?.[0]?.pointer]).toEqual([422, pointer]);
});

test('stored headers are not sent to another server unless they are entered again', async () => {
  const { id } = await create({ request_headers: { Authorization: apiKey } });
  const elsewhere = [
    'https://attacker.example/rtb',
    'https://bid.example:8443/rtb',
    'https://bid.example.attacker.example/rtb',
  ];
  for (const endpoint_url of elsewhere) {
    const { status, body } = await update<Problem>(id, { endpoint_url });
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/request_headers']);
  }
  expect((await update(id, { endpoint_url: 'https://bid.example/v2' })).status).toBe(200);
  const moved = { endpoint_url: elsewhere[0], request_headers: { Authorization: 'Bearer new' } };
  expect((await update(id, moved)).status).toBe(200);
  // Without headers, there is nothing to keep.
  expect((await update(id, { ...bidder, kind: undefined, request_headers: {} })).status).toBe(200);
});

test('a house ad source cannot have request headers', async () => {
  const { status, body } = await client.call<Problem>('POST', '/v1/sources', client.secret, {
    name: 'H',
    kind: 'house',
    request_headers: { 'X-Key': 'a' },
  });
  expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/request_headers']);
});

test('updated request headers take effect', async () => {
  const box = createSecretBox([new Uint8Array(32).fill(7)]);
  const headers = createRequestHeaders(runningService.service.database, box, { nowMs: () => 0 });
  const createdSource = await create({ request_headers: { 'X-Key': 'a' } });
  const { account_id: accountId } = (
    await runningService.service.database.query<{ account_id: string }>(
      'SELECT account_id FROM resources WHERE id = $1',
      [createdSource.id],
    )
  )[0] ?? { account_id: '' };
  const requireExternalSource = (source: Source) => {
    const externalSource = toExternalSource(source);
    if (!externalSource) throw new Error('This is not an external source.');
    return externalSource;
  };
  const scope = { accountId, environment: 'sandbox' } as const;
  const operation = { queries: runningService.service.database, scope, actor: 'test' };
  await headers.store(operation, createdSource.id, { 'X-Key': 'a' });
  const firstSource = requireExternalSource(createdSource);
  expect(await headers.read(accountId, firstSource)).toEqual({ 'X-Key': 'a' });
  await headers.store(operation, createdSource.id, { 'X-Key': 'b' });
  expect(await headers.read(accountId, firstSource)).toEqual({ 'X-Key': 'a' });
  expect(await headers.read(accountId, requireExternalSource(createdSource))).toEqual({
    'X-Key': 'b',
  });

  // Without the credentials, the bidder would reject the request.
  await headers.store(operation, createdSource.id, {});
  await expect(headers.read(accountId, requireExternalSource(createdSource))).rejects.toThrow(
    'request_headers again',
  );
  const sourceWithoutHeaders = requireExternalSource({
    ...createdSource,
    request_header_names: [],
  });
  expect(await headers.read(accountId, sourceWithoutHeaders)).toEqual({});
});
