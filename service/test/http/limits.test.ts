import type { ApiKey, Problem, Source, SourceCallbackSecret } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/program/cli/run-service.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';

/** A manual clock, so that token buckets do not refill during a flood on a busy machine. */
const clock = createManualClock(Date.now());
const logLines: string[] = [];
let runningService: InProcessService;
let sandbox: Client;
let live: Client;
beforeAll(async () => {
  const write = (line: string): void => void logLines.push(line);
  runningService = await startInProcess(
    {
      TRUSTED_PROXIES: 'loopback',
      RATE_LIMIT_KEY_SANDBOX: '1/60',
      RATE_LIMIT_KEY_CEILING: '500/1000',
      RATE_LIMIT_ADDRESS: '1/20',
      RATE_LIMIT_GUESTS: '5',
      WAITS_PER_ADDRESS: '6',
      // No provider answers there.
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_CLIENT_ID: 'trueward',
    },
    { clock, log: createLog('warn', { write }) },
  );
  sandbox = createClient(runningService, 'sandbox');
  live = createClient(runningService, 'live');
});
afterAll(() => runningService.stop());

/** Sends requests one after another, and counts the responses by status. */
async function flood(times: number, request: (index: number) => Promise<{ status: number }>) {
  const counts: Record<number, number> = {};
  for (let index = 0; index < times; index += 1) {
    const { status } = await request(index);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** Makes user references unique, so that the tests do not share limits. */
let userCount = 0;
const decideFrom = (client: Client, path: string, ip: string, key = client.publishable) =>
  client.call<Problem & { id: string; token: string }>(
    'POST',
    path,
    key,
    { placement: 'revive', user_ref: `user-${(userCount += 1)}` },
    { 'x-forwarded-for': ip },
  );

test.each([
  ['without a query', '/v1/decisions', '2001:db8:1:1'],
  ['with an empty query', '/v1/decisions?', '2001:db8:1:2'],
])('IPs in the same /64 share a limit for requests %s', async (_how, path, prefix) => {
  const statuses = await flood(60, (index) =>
    decideFrom(live, path, `${prefix}::${index.toString(16)}`),
  );
  expect(statuses).toEqual({ 200: 20, 429: 40 });
  // Each /64 and each IPv4 address has its own limit.
  expect((await decideFrom(live, path, `${prefix}1::1`)).status).toBe(200);
  const mappedStatuses = await flood(10, (index) =>
    decideFrom(live, path, `::ffff:192.0.2.${index}`),
  );
  expect(mappedStatuses).toEqual({ 200: 10 });
});

test('new guest players are limited per IP', async () => {
  const create = (ip: string) =>
    live.call('POST', '/v1/players', live.publishable, undefined, { 'x-forwarded-for': ip });
  expect(await flood(8, () => create('2001:db8:7::1'))).toEqual({ 201: 5, 429: 3 });
  expect((await create('2001:db8:7::2')).status).toBe(429);
  expect((await create('2001:db8:8::1')).status).toBe(201);
  clock.advance(720_000);
  expect(await flood(2, () => create('2001:db8:7::1'))).toEqual({ 201: 1, 429: 1 });
});

test('invented returns from the OpenID provider are limited per IP', async () => {
  const pending = JSON.stringify({ state: 's', nonce: 'n', verifier: 'v' });
  const cookie = `trueward_sign_in=${Buffer.from(pending).toString('base64url')}`;
  const finish = (ip: string) =>
    fetch(`${runningService.url}/panel/api/single-sign-on/callback?state=s&code=invented`, {
      redirect: 'manual',
      headers: { cookie, 'x-forwarded-for': ip },
    });
  expect(await flood(12, () => finish('192.0.2.50'))).toEqual({ 302: 10, 429: 2 });
  expect((await finish('192.0.2.51')).status).toBe(302);
});

test('codes for other devices can’t be guessed', async () => {
  const guess = (ip: string) =>
    live.call(
      'POST',
      '/v1/players/link',
      live.publishable,
      { code: 'AAAAAAAA' },
      { 'x-forwarded-for': ip },
    );
  expect(await flood(12, () => guess('2001:db8:9::1'))).toEqual({ 409: 10, 429: 2 });
});

/** Calls of ad networks that are refused, and the status of a refusal. */
const refusedCalls: [string, (source: string, secret: string) => string, number][] = [
  ['for a source that does not exist', () => 'src_unknown?key=1', 404],
  ['with a wrong secret', (source) => `${source}?key=1`, 401],
  ['with too many parameters', (source) => `${source}?${'a=1&'.repeat(200)}`, 422],
  ['whose secret can’t be read', (source, secret) => `${source}?key=${secret}`, 500],
];
test.each(refusedCalls)('calls %s are limited per IP', async (name, getPath, status) => {
  const { id } = await live.manage<Source>('POST', '/v1/sources', {
    name: `Network ${name}`,
    kind: 'page',
    adapter: 'custom:network',
    placements: ['revive'],
    priority: 1,
  });
  const { secret = '' } = await live.manage<SourceCallbackSecret>(
    'POST',
    `/v1/sources/${id}/callback`,
    {},
  );
  if (status === 500)
    await runningService.service.database.query(
      `UPDATE secrets SET sealed = 'unreadable' WHERE purpose = 'source_callback' AND id = $1`,
      [id],
    );
  const ip = `2001:db8:c:${status}::1`;
  const counts = await flood(30, () =>
    live.call('GET', `/v1/source-callbacks/${getPath(id, secret)}`, '', undefined, {
      'x-forwarded-for': ip,
    }),
  );
  expect(counts).toEqual({ [status]: 20, 429: 10 });
});

test('sandbox and live keys have separate limit settings', async () => {
  const list = (client: Client) => client.call('GET', '/v1/keys?limit=1', client.secret);
  expect(await flood(90, () => list(sandbox))).toEqual({ 200: 60, 429: 30 });
  expect(await flood(90, () => list(live))).toEqual({ 200: 90 });
});

test('a key can have its own limit, which is kept when the key is rolled', async () => {
  const createResponse = await live.call<ApiKey>('POST', '/v1/keys', live.secret, {
    kind: 'secret',
    rate_limit: { per_s: 1, burst: 5 },
  });
  expect(createResponse.status).toBe(201);
  const { id, key } = createResponse.body;
  const path = `/v1/keys/${id}`;
  const list = () => live.call('GET', '/v1/keys?limit=1', key);
  expect(await flood(10, list)).toEqual({ 200: 5, 429: 5 });

  const rejection = await live.call<Problem>('PATCH', path, live.secret, {
    rate_limit: { per_s: 501, burst: 1000 },
  });
  expect([rejection.status, rejection.body.errors]).toEqual([
    422,
    [
      {
        pointer: '/rate_limit/per_s',
        message: 'must be at most 500, the highest limit on this service',
      },
    ],
  ]);
  const raisedLimit = { per_s: 500, burst: 1_000 };
  const patchResponse = await live.call<ApiKey>('PATCH', path, live.secret, {
    rate_limit: raisedLimit,
  });
  expect(patchResponse.body.rate_limit).toEqual(raisedLimit);
  // The process can take up to half a second to apply the change, so poll for it.
  const floodWhenRefilled = () => {
    clock.advance(100);
    return flood(30, list);
  };
  await expect.poll(floodWhenRefilled).toEqual({ 200: 30 });

  const successor = await live.call<ApiKey>('POST', `${path}/roll`, live.secret, { overlap_s: 60 });
  expect(successor.body.rate_limit).toEqual(raisedLimit);
  const keyWithoutLimit = await live.call<ApiKey>(
    'PATCH',
    `/v1/keys/${successor.body.id}`,
    live.secret,
    {
      rate_limit: null,
    },
  );
  expect(keyWithoutLimit.status).toBe(200);
  expect(keyWithoutLimit.body).not.toHaveProperty('rate_limit');
});

test('the number of waiting requests is limited per reward and per IP', async () => {
  const decisions: { id: string; token: string }[] = [];
  for (let index = 0; index < 3; index += 1)
    decisions.push((await decideFrom(live, '/v1/decisions', `198.51.100.${index}`)).body);
  const wait = (index: number, ip: string, signal?: AbortSignal) => {
    const { id, token } = decisions[index] ?? { id: '', token: '' };
    return fetch(`${runningService.url}/v1/decisions/${id}?wait_s=25`, {
      headers: {
        authorization: `Bearer ${live.publishable}`,
        'decision-token': token,
        'x-forwarded-for': ip,
      },
      ...(signal ? { signal } : {}),
    });
  };
  const countWaitingRequests = async (): Promise<number> => {
    const text = await (await fetch(`${runningService.url}/metrics`)).text();
    return Number(/^trueward_held_requests (\d+)$/m.exec(text)?.[1]);
  };
  const disconnect = new AbortController();
  onTestFinished(() => disconnect.abort());
  const startWait = (index: number, ip: string) =>
    void wait(index, ip, disconnect.signal).catch(() => undefined);
  for (let times = 0; times < 4; times += 1) startWait(0, '2001:db8:2::1');
  await expect.poll(countWaitingRequests).toBe(4);
  const fifthResponse = await wait(0, '203.0.113.9');
  expect([fifthResponse.status, fifthResponse.headers.get('retry-after')]).toEqual([429, '5']);
  for (let times = 0; times < 2; times += 1) startWait(1, '2001:db8:2::2');
  await expect.poll(countWaitingRequests).toBe(6);
  expect((await wait(2, '2001:db8:2::3')).status).toBe(429);
  startWait(2, '203.0.113.10');
  await expect.poll(countWaitingRequests).toBe(7);
  disconnect.abort();
  await expect.poll(countWaitingRequests).toBe(0);
});

test('dropped events are logged at most once a minute', async () => {
  const report = (dropped: object, index: number) =>
    live.call(
      'POST',
      '/v1/events',
      live.publishable,
      {
        sent_at: new Date(clock.nowMs()).toISOString(),
        events: [{ id: `event-${index}` }],
        dropped,
      },
      { 'x-forwarded-for': `203.0.113.${index}` },
    );
  const manyReasons = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, index) => [`reason-${index}`, 1]),
  );
  expect((await report(manyReasons, 1)).status).toBe(422);
  logLines.length = 0;
  const longReason = { too_many: 2, ['x'.repeat(50_000)]: 1 };
  for (let index = 2; index < 12; index += 1)
    expect((await report(longReason, index)).status).toBe(200);
  expect(logLines).toHaveLength(1);
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
    msg: 'devices dropped events',
    environment: 'live',
    dropped: { too_many: 2, other: 1 },
  });
  expect(logLines[0]?.length).toBeLessThan(500);
});

test('log lines have a bounded length regardless of the input', () => {
  const writtenLines: string[] = [];
  const log = createLog('warn', { write: (line: string) => void writtenLines.push(line) });
  const longText = 'x'.repeat(60_000);
  log.warn({ origin: longText, list: [longText, longText] }, 'warned');
  log.error({ err: Object.assign(new Error(longText), { detail: longText }) }, 'failed');
  for (const line of writtenLines) expect(line.length).toBeLessThan(10_000);
  expect(JSON.parse(writtenLines[1] ?? '')).toMatchObject({ err: { type: 'Error' } });
});
