import { connect } from 'node:net';
import { once } from 'node:events';
import type { Problem } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/program/cli/run-service.ts';
import { deriveHostileBodies } from '../hostile/bodies.ts';
import { listBodyRoutes } from '../hostile/routes.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { createPanelClient, type PanelClient, signInOwner } from './panel-client.ts';

const logLines: string[] = [];
let service: InProcessService;
let client: Client;
let owner: PanelClient;
beforeAll(async () => {
  service = await startInProcess(
    {
      TRUSTED_PROXIES: 'loopback',
      RATE_LIMIT_KEY_SANDBOX: '100000/100000',
      RATE_LIMIT_ADDRESS: '100000/100000',
    },
    { log: createLog('info', { write: (line) => void logLines.push(line) }) },
  );
  client = createClient(service);
  owner = await signInOwner(service);
});
afterAll(() => service.stop());

/** Counts the database statements that requests cause. */
function countStatements(): { count: number } {
  const { database } = service.service;
  const { query } = database;
  const counter = { count: 0 };
  database.query = (text, params) => {
    counter.count += 1;
    return query.call(database, text, params) as never;
  };
  onTestFinished(() => void (database.query = query));
  return counter;
}

/** Enough for answers to be large if they were not bounded. `npm run bench:hostile` sends the largest bodies. */
const testedBytes = 4_096;
/** One of so many bodies is sent to each route, and others to the next one. `npm run test:full` sends all. */
const sampling = inject('full') ? 1 : 12;

test('no hostile body gets a large answer, or one that is not a problem', async () => {
  const routes = listBodyRoutes(service.service);
  expect(routes.length).toBeGreaterThan(30);
  const failures: string[] = [];
  let bodies = 0;
  for (const [place, { method, url, schema, limit, isIgnored }] of routes.entries()) {
    const derived = deriveHostileBodies(schema, Math.min(limit, testedBytes));
    const sampled = derived.filter((_, index) => (index + place) % sampling === 0);
    for (const { name, text } of sampled) {
      bodies += 1;
      const isPanel = url.startsWith('/panel');
      const key = /decisions$|events$/.test(url) ? client.publishable : client.secret;
      const response = await fetch(service.url + url, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(isPanel
            ? {
                cookie: owner.cookie() ?? '',
                origin: service.url,
                'trueward-csrf': owner.csrf(),
                'trueward-environment': 'sandbox',
              }
            : { authorization: `Bearer ${key}` }),
        },
        body: text,
      });
      const answer = await response.text();
      const { errors = [], request_id: id } = JSON.parse(answer || '{}') as Problem;
      const isFine =
        response.status >= 400 &&
        response.status < 500 &&
        answer.length <= 16_384 &&
        errors.length <= 20 &&
        id === response.headers.get('request-id');
      // Events are judged one by one, and an event needs only an id.
      const isAccepted = response.ok && (isIgnored || url === '/v1/events');
      if (!isFine && !isAccepted)
        failures.push(`${method} ${url}, ${name}: ${response.status}, ${answer.length} bytes`);
    }
  }
  expect(bodies).toBeGreaterThan(1_000 / sampling);
  expect(failures).toEqual([]);
});

test('a small body is answered with all its errors at once, a large one with the first', async () => {
  const small = {
    name: 'p',
    kind: 'policy',
    status: 'active',
    block: { domains: [1, 2], formats: ['x'] },
  };
  const response = await client.call<Problem>('POST', '/v1/policies', client.secret, small);
  expect(response.body.errors?.map(({ pointer }) => pointer)).toEqual([
    '/block/domains/0',
    '/block/domains/1',
    '/block/formats/0',
  ]);
  const many = { ...small, block: { domains: Array.from({ length: 400 }, () => 1) } };
  const limited = await client.call<Problem>('POST', '/v1/policies', client.secret, many);
  expect(limited.body.errors).toHaveLength(20);
});

test('a body may have as many values as its lists admit, and 4,096 in all', async () => {
  const list = (length: number, name: (index: number) => string) =>
    Array.from({ length }, (_, index) => name(index));
  const full = {
    name: 'Long lists',
    kind: 'policy',
    status: 'paused',
    when: {
      countries: ['DE'],
      languages: ['de'],
      segments: list(500, (index) => `segment_${index}`),
    },
    block: { domains: list(500, (index) => `d${index}.example`) },
  };
  const accepted = await client.call<Problem>('POST', '/v1/policies', client.secret, full);
  expect(accepted, JSON.stringify(accepted.body)).toMatchObject({ status: 201 });
  const refuse = async (values: number) => {
    // `block` counts by its last item.
    const body = { name: 'Many', block: { domains: list(values - 1, (index) => `d${index}`) } };
    const { status, body: problem } = await client.call<Problem>(
      'POST',
      '/v1/policies',
      client.secret,
      body,
    );
    expect([status, problem.code]).toEqual([422, 'invalid_request']);
    return problem.detail;
  };
  // Judged by its values, not refused as a whole.
  expect(await refuse(4_096)).not.toContain('members and items');
  expect(await refuse(4_097)).toBe(
    'The body has 4097 members and items; send at most 4096 in one request.',
  );
});

/** Sends bytes, and returns everything that the service sends before it closes the connection. */
async function sendRaw(text: string): Promise<string> {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
  socket.write(text);
  await once(socket, 'close');
  return received;
}

test.each([
  ['GET / HTTP/1.1\r\nbroken\r\n\r\n', 400, 'malformed_request'],
  ['\u0016\u0003\u0001 hello\r\n\r\n', 400, 'malformed_request'],
  [
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'malformed_request',
  ],
  [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  [
    'POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 0\r\n\r\n',
    417,
    'expectation_failed',
  ],
  ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
  ['GET / HTTP/1.1\r\nHost: a\r\nhOsT: b\r\n\r\n', 400, 'malformed_request'],
  ['GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
  [
    'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nAuthorization: c\r\n\r\n',
    400,
    'malformed_request',
  ],
  [
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: b\r\ncontent-type: c\r\nContent-Length: 0\r\n\r\n',
    400,
    'malformed_request',
  ],
  ['QUERY /v1/keys HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405, 'method_not_allowed'],
  ['CONNECT inside:80 HTTP/1.1\r\nHost: inside:80\r\n\r\n', 405, 'method_not_allowed'],
])('a request below the router gets a problem document: %j', async (text, status, code) => {
  const received = await sendRaw(text);
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const problem = JSON.parse(body) as Problem;
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(problem).toMatchObject({ status, code });
  expect(/request-id: (\S+)/i.exec(head)?.[1]).toBe(problem.request_id);
});

test.each([
  [
    'bytes that are not UTF-8',
    Buffer.from('{"placement":"revive","user_ref":"\xe9"}', 'latin1'),
    {},
    400,
  ],
  ['a surrogate in UTF-8', Buffer.from('7b2261223a22eda080227d', 'hex'), {}, 400],
  ['UTF-16', Buffer.from('{"placement":"revive"}', 'utf16le'), {}, 400],
  ['another charset', '{}', { 'content-type': 'application/json; charset=iso-8859-1' }, 415],
  ['another charset in quotes', '{}', { 'content-type': 'text/plain;charset="utf-16"' }, 415],
  ['gzip', '\x1f\x8b', { 'content-encoding': 'gzip' }, 415],
  ['two encodings', '{}', { 'content-encoding': 'identity, br' }, 415],
  ['a charset after spaces', '{}', { 'content-type': 'text/plain; charset = utf-16' }, 415],
  ['two charsets', '{}', { 'content-type': 'text/plain; charset=utf-8; charset=utf-16' }, 415],
  ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  // Read like an empty object, which lacks the placement.
  ['no body', '', {}, 422],
  ['half a pair of surrogates', String.raw`{"placement":"\ud83d"}`, {}, 422],
  [
    'UTF-8 that is declared',
    '{"placement":"revive","user_ref":"u"}',
    { 'content-type': 'application/json; charset=UTF-8' },
    200,
  ],
  ['a byte order mark', '\uFEFF{"placement":"revive","user_ref":"u"}', {}, 200],
  [
    'the identity encoding',
    '{"placement":"revive","user_ref":"u"}',
    { 'content-encoding': 'identity' },
    200,
  ],
  [
    'no encoding, in other words',
    '{"placement":"revive","user_ref":"u"}',
    { 'content-encoding': 'Identity, identity' },
    200,
  ],
])('a body of %s', async (_name, body, headers, status) => {
  const response = await fetch(`${service.url}/v1/decisions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${client.publishable}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  const { code, request_id: id } = (await response.json()) as Problem;
  expect([response.status, code === 'internal']).toEqual([status, false]);
  if (status >= 400) expect(id).toBe(response.headers.get('request-id'));
});

test('a body that is declared to be too large is rejected before its sender is known', async () => {
  const head = (path: string, bytes: number) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
  expect(await sendRaw(head('/v1/decisions', 65_537))).toMatch(/^HTTP\/1.1 413 /);
  expect(await sendRaw(head('/panel/api/session', 4_097))).toMatch(/^HTTP\/1.1 413 /);
});

/** Sends a request that waits to be asked for its body. */
const sendExpecting = (key: string, headers: string, body = '') =>
  sendRaw(
    `POST /v1/decisions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n${headers}\r\n\r\n${body}`,
  );

test('a client is asked for its body only if nothing in the headers is refused', async () => {
  const body = '{"placement":"revive","user_ref":"u"}';
  const { publishable: key } = client;
  const length = `Content-Length: ${body.length}`;
  expect(await sendExpecting(key, `${length}\r\nConnection: close`, body)).toMatch(
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /,
  );
  expect(await sendExpecting(key, 'Content-Length: 65537')).toMatch(/^HTTP\/1.1 413 /);
  expect(await sendExpecting('pk_sandbox_x', length)).toMatch(/^HTTP\/1.1 401 /);
  expect(await sendExpecting(key, `${length}\r\nContent-Encoding: br`)).toMatch(/^HTTP\/1.1 415 /);
  const transfer = 'Transfer-Encoding: gzip, chunked';
  expect(await sendExpecting(key, transfer)).toMatch(/^HTTP\/1.1 415 /);
});

test('the service closes connections on which nothing moves for longer than requests may wait', () => {
  expect(service.service.app.server.timeout).toBe(120_000);
});

test('a client that disconnects while sending its body is not worth a log line', async () => {
  logLines.length = 0;
  const { port, hostname } = new URL(service.url);
  for (let times = 0; times < 20; times += 1) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/decisions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${client.publishable}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
    await once(socket, 'close');
  }
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await client.decide({ placement: 'revive', user_ref: 'after' });
  expect(logLines).toEqual([]);
});

test('invented credentials cost no database statement beyond the first few', async () => {
  const counter = countStatements();
  const attempts: [string, (index: number) => Promise<{ status: number }>][] = [
    [
      'sessions',
      (index) =>
        fetch(`${service.url}/panel/api/session`, {
          headers: { cookie: `trueward_session=acc_1.${index}`, 'x-forwarded-for': '192.0.2.1' },
        }),
    ],
    [
      'sessions at the API',
      (index) =>
        fetch(`${service.url}/v1/keys`, {
          headers: {
            cookie: `trueward_session=acc_1.${index}`,
            'trueward-environment': 'live',
            'x-forwarded-for': '192.0.2.2',
          },
        }),
    ],
    [
      'links',
      (index) =>
        fetch(`${service.url}/panel/api/setup?token=t${index}`, {
          headers: { 'x-forwarded-for': '192.0.2.3' },
        }),
    ],
    [
      'links that are used',
      (index) =>
        createPanelClient(service.url).send(
          'POST',
          '/panel/api/setup',
          {
            token: `t${index}`,
            email: 'a@b.example',
            name: 'N',
            password: 'long enough, invented',
          },
          { 'x-forwarded-for': '192.0.2.4' },
        ),
    ],
    [
      'keys',
      (index) =>
        client.call('GET', '/v1/keys', `sk_live_${index}`, undefined, {
          'x-forwarded-for': '192.0.2.5',
        }),
    ],
    [
      'player tokens',
      (index) =>
        client.call('GET', '/v1/wallet', client.publishable, undefined, {
          'player-token': `ply.${Buffer.from('{"sub":"ply_1"}').toString('base64url')}.${index}.${'a'.repeat(43)}`,
          'x-forwarded-for': '192.0.2.6',
        }),
    ],
    [
      'user tokens',
      (index) =>
        client.call(
          'POST',
          '/v1/decisions',
          client.publishable,
          { placement: 'revive', user_token: `e30.${index}.a` },
          { 'x-forwarded-for': '192.0.2.7' },
        ),
    ],
    [
      'decision tokens',
      (index) =>
        client.call('GET', `/v1/decisions/dec_${index}`, client.publishable, undefined, {
          'decision-token': `1~${index}`,
          'x-forwarded-for': '192.0.2.8',
        }),
    ],
    ['receipt keys', () => fetch(`${service.url}/.well-known/jwks.json`)],
    ['readiness', () => fetch(`${service.url}/readyz`)],
  ];
  for (const [name, attempt] of attempts) {
    counter.count = 0;
    for (let index = 0; index < 50; index += 1) expect((await attempt(index)).status).not.toBe(500);
    // Ten lookups, and what the service does in the background.
    expect.soft([name, counter.count < 40], `${counter.count} statements`).toEqual([name, true]);
  }
  // Someone who is signed in behind the same address is not locked out.
  const colleague = await owner.send('GET', '/panel/api/session', undefined, {
    'x-forwarded-for': '192.0.2.1',
  });
  expect(colleague.status).toBe(200);
});

test('the address of a client has one form, whatever the proxy appends', async () => {
  const counts: Record<number, number> = {};
  for (let port = 0; port < 15; port += 1) {
    const { status } = await fetch(`${service.url}/panel/api/setup?token=t`, {
      headers: { 'x-forwarded-for': `203.0.113.98:${50_000 + port}` },
    });
    counts[status] = (counts[status] ?? 0) + 1;
  }
  expect(counts).toEqual({ 404: 10, 429: 5 });
});
