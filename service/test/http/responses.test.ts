import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess();
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const get = <T>(path: string) => client.call<T>('GET', path, client.secret);

test('every list endpoint returns a JSON content type', async () => {
  interface OpenApi {
    paths: Record<string, { get?: { operationId?: string } }>;
  }
  const { body: openApi } = await get<OpenApi>('/openapi.json');
  const lists = Object.entries(openApi.paths).flatMap(([path, { get: operation }]) =>
    operation?.operationId?.startsWith('list') && !path.includes('{') ? [path] : [],
  );
  expect(lists).toContain('/v1/webhook-events');
  for (const path of lists) {
    const { status, headers } = await get(path);
    if (status !== 200) continue; // The list requires a panel user or parameters.
    expect([path, headers.get('content-type')]).toEqual([path, 'application/json; charset=utf-8']);
  }
});

test.each([
  `/v1/decisions/${'d'.repeat(5_000)}`,
  `/v1/placements/${'p'.repeat(101)}`,
  '/v1/decisions/%zz',
  '/v1/%E0%A4%A',
])('a path that the router rejects returns a problem document: %.40s', async (path) => {
  const { status, headers, body } = await get<Problem>(path);
  expect([status, body.status, body.code]).toEqual([404, 404, 'not_found']);
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect(headers.get('request-id')).toBe(body.request_id);
});

test.each([
  'https://[::127.0.0.1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[64:ff9b::10.0.0.1]/',
  'https://[2002:7f00:1::]/',
])('a live webhook cannot be registered for %s', async (url) => {
  const live = createClient(runningService, 'live');
  const events = ['decision.rewarded'];
  const rejection = await live.call<Problem>('POST', '/v1/webhooks', live.secret, { url, events });
  expect([rejection.status, rejection.body.errors?.[0]?.pointer]).toEqual([422, '/url']);
});
