import { readFileSync } from 'node:fs';
import { problemStatus } from '@trueward/protocol';
import type { Problem } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { type OpenApi, listOperations, readOpenApi } from '../fuzz/operations.ts';
import { startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';
import { ownRows } from '../neighbor.ts';

test('the API reference and the guide cover the whole API', async () => {
  const runningService = await startInProcess();
  const document: OpenApi = await readOpenApi(runningService.url);
  const response = await fetch(`${runningService.url}/docs`);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
  const page = await response.text();
  for (const { id } of listOperations(document)) {
    expect(page).toContain(`<section id="${id}">`);
    expect(page).toContain(`<li><a href="#${id}">`);
  }
  // Code in descriptions is marked up.
  expect(page).not.toMatch(/<(p|td|li)>[^<]*`/);
  // The examples are requests that the service accepts.
  const [, example = ''] =
    /<section id="createAdvertiser">.*?-d '(.*?)'<\/pre>/s.exec(page)?.map(String) ?? [];
  expect(JSON.parse(example.replaceAll('&quot;', '"'))).toEqual({
    name: '…',
    domain: 'game.example',
  });
  for (const name of Object.keys(document.components.schemas))
    expect(page).toContain(`<section id="schema-${name}">`);
  expect(page).not.toMatch(/<script|\bsrc=|@import|url\(/);

  const guide = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  expect(Object.keys(document.paths).filter((path) => !guide.includes(`\`${path}\``))).toEqual([]);
  const codes = Object.entries(problemStatus);
  expect(
    codes.filter(([code, status]) => !new RegExp(`\`${code}\` +\\| ${status} `).test(guide)),
  ).toEqual([]);
  await runningService.stop();
});

test('metrics are accessible only locally or with the token', async () => {
  const token = 'a-token-of-sixteen';
  const [unprotectedService, protectedService] = await Promise.all([
    startInProcess(),
    startInProcess({ METRICS_TOKEN: token }),
  ]);
  const client = createClient(unprotectedService);
  await client.call('GET', `/v1/placements/plc_unknown`, client.secret);
  const text = await (await fetch(`${unprotectedService.url}/metrics`)).text();
  // `promtool check metrics` requires that counters have this suffix.
  expect(text.match(/^# TYPE \S+_total (?!counter).*$/gm)).toBeNull();
  expect(text).toMatch(
    /trueward_http_request_duration_seconds_count\{method="GET",route="\/v1\/placements\/:id",status="404"\} 1/,
  );
  expect(text).not.toContain('plc_unknown');
  // The neighbor has three in each environment. It has none in an existing database.
  expect(text).toMatch(/^trueward_webhook_deliveries_pending [06]$/m);
  const status = async (url: string, headers: Record<string, string>) =>
    (await fetch(`${url}/metrics`, { headers })).status;
  expect(await status(unprotectedService.url, { 'x-forwarded-for': '203.0.113.9' })).toBe(404);
  expect(await status(protectedService.url, {})).toBe(404);
  expect(await status(protectedService.url, { authorization: `Bearer ${token}` })).toBe(200);
  await Promise.all([unprotectedService.stop(), protectedService.stop()]);
});

test('a flood is rejected with 429 and Retry-After while other clients are served', async () => {
  const runningService = await startInProcess();
  const client = createClient(runningService);
  const request = (user_ref: string) =>
    client.call<Problem>('POST', '/v1/decisions', client.publishable, {
      placement: 'revive',
      user_ref,
    });
  const responses = await Promise.all(Array.from({ length: 100 }, () => request('flood')));
  const rejections = responses.filter(({ status }) => status === 429);
  expect(rejections.length).toBeGreaterThan(10);
  expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(60);
  for (const { body, headers } of rejections) {
    expect(body).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit-remaining')).toBe('0');
  }
  expect((await request('another player')).status).toBe(200);
  await runningService.stop();
});

test('requests beyond the queue limit are rejected with 503 and Retry-After', async () => {
  const runningService = await startInProcess({ RATE_LIMITS: 'off' });
  // Blocks the database, so that no request can commit yet.
  let blockingTransaction: Promise<void> | undefined;
  const release = await new Promise<() => void>((resolveStarted) => {
    blockingTransaction = runningService.service.database.transaction(
      () => new Promise<void>(resolveStarted),
    );
  });
  // Injected requests do not need connections.
  const requests = Array.from({ length: 5_300 }, (_, index) =>
    runningService.service.app.inject({
      method: 'POST',
      url: '/v1/decisions',
      headers: { authorization: `Bearer ${runningService.keys.sandbox.publishable}` },
      payload: { placement: 'level-end', user_ref: `player-${index}` },
    }),
  );
  const firstResponse = await Promise.race(requests);
  expect([
    firstResponse.statusCode,
    firstResponse.json<Problem>().code,
    firstResponse.headers['retry-after'],
  ]).toEqual([503, 'overloaded', '1']);
  release();
  const responses = await Promise.all(requests);
  await blockingTransaction;
  const rejections = responses.filter(({ statusCode }) => statusCode === 503);
  const servedCount = responses.filter(({ statusCode }) => statusCode === 200).length;
  expect(servedCount + rejections.length).toBe(responses.length);
  const [row] = await runningService.service.database.query<{ count: number }>(
    `SELECT count(*)::bigint AS count FROM decisions WHERE ${ownRows}`,
  );
  expect(row?.count).toBe(servedCount);
  await runningService.stop();
});

test('without its database, the service is alive but not ready', async () => {
  const runningService = await startInProcess();
  const client = createClient(runningService);
  const read = (path: string) => client.call<Problem>('GET', path);
  expect([(await read('/healthz')).status, (await read('/readyz')).status]).toEqual([200, 200]);
  await runningService.service.database.close();
  // All requests share an answer for a moment.
  await expect.poll(async () => (await read('/readyz')).status).toBe(503);
  expect((await read('/healthz')).status).toBe(200);
  const response = await client.call<Problem>('POST', '/v1/decisions', client.publishable, {
    placement: 'lobby',
  });
  expect([response.status, response.body.code, response.headers.get('retry-after')]).toEqual([
    503,
    'unavailable',
    '5',
  ]);
  await runningService.stop().catch(() => undefined); // The database is closed.
});
