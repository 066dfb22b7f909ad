import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { DecisionRequest } from '../../../protocol/wire.ts';
import { sendEvents } from '../../../src/outbox/send.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { findObstacle } from '../../../src/transport/reach-service.ts';
import { createServiceClient, withNonce } from '../../../src/transport/service-client.ts';
import { readReward } from '../../../src/transport/read-reward.ts';
import { requestDecision } from '../../../src/decision/request-ad.ts';
import { createDeferred } from '../../support/deferred.ts';
import { createManualClock, runPendingWork } from '../../support/manual-clock.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(
  listener: RequestListener,
  timeoutMs = 2_000,
  clock = systemClock,
  fetch = globalThis.fetch,
) {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const serviceUrl = `http://127.0.0.1:${port}`;
  const client = createServiceClient({
    serviceUrl,
    publishableKey: 'pk_sandbox_key',
    fetch,
    clock,
    timeoutMs,
  });
  const parts = {
    client,
    clock,
    isOnline: () => true,
    findObstacle: (signal: AbortSignal) => findObstacle({ clock, fetch }, serviceUrl, signal),
  };
  return {
    client,
    serviceUrl,
    sendEvent: () => sendEvents(parts, [{ id: '1', json: '{}' }], {}, false),
    readReward: (id: string, token: string, options: { waitS: number }) =>
      readReward(client, id, token, options),
    requestDecision: (body: DecisionRequest, signal = new AbortController().signal) =>
      requestDecision(parts, body, signal),
  };
}
const respond =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
const problem = (status: number, code: string) => respond(status, JSON.stringify({ status, code }));
const request = { placement: 'revive' };
const decision = {
  id: 'dec_1',
  status: 'no_fill',
  placement: 'revive',
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:01:00.000Z',
};

test.each([204, 205, 304])('a %d response without a body is no answer', async (status) => {
  const client = await serve((_request, response) => void response.writeHead(status).end());
  const noAnswer = { kind: 'unreachable', cause: 'unexpected_response' };
  expect(await client.requestDecision(request)).toEqual(noAnswer);
  expect(await client.readReward('dec_1', 'token', { waitS: 0 })).toEqual(noAnswer);
});

test.each([301, 302, 303, 307, 308])(
  'a %d redirect is no answer, and the other server receives nothing',
  async (status) => {
    let requests = 0;
    const other = await serve((_request, response) => {
      requests += 1;
      response.end(JSON.stringify(decision));
    });
    const client = await serve(({ url = '' }, response) =>
      response.writeHead(status, { location: other.serviceUrl + url }).end(),
    );
    const noAnswer = { kind: 'unreachable', cause: 'unexpected_response' };
    expect(await client.requestDecision(request)).toEqual(noAnswer);
    expect(await client.readReward('dec_1', 'token', { waitS: 0 })).toEqual(noAnswer);
    expect((await client.sendEvent()).failure?.reason).toBe('unexpected_response');
    expect(requests).toBe(0);
  },
);

test('an answer that begins, but never ends, times out', async () => {
  const client = await serve((_request, response) => void response.writeHead(200).write('{'), 50);
  expect(await client.readReward('dec_1', 'token', { waitS: 0 })).toEqual({
    kind: 'unreachable',
    cause: 'timeout',
  });
});

test('sends the key and the request’s JSON, and returns the response’s body', async () => {
  const received: unknown[] = [];
  const client = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      received.push(request.method, request.url, request.headers.authorization, JSON.parse(body));
      respond(200, JSON.stringify(decision))(request, response);
    });
  });
  const result = await client.requestDecision(request);
  expect(result).toMatchObject({ kind: 'ok', body: decision });
  expect(received).toEqual(['POST', '/v1/decisions', 'Bearer pk_sandbox_key', request]);
});

test('requests a reward’s status with its decision token and the wait time', async () => {
  let received = '';
  const client = await serve((request, response) => {
    received = `${request.method} ${request.url} ${String(request.headers['decision-token'])}`;
    respond(200, '{"id":"dec_1","state":"pending"}')(request, response);
  });
  await client.readReward('dec_1', 'signed', { waitS: 25 });
  expect(received).toMatch(/^GET \/v1\/decisions\/dec_1\?wait_s=25&nonce=[\d-]+ signed$/);
});

test('a cache-first service worker answers neither a status request nor a reachability check', async () => {
  const cache = new Map<string, Response>();
  const cacheFirst: typeof fetch = async (input, init) => {
    const { url } = new Request(input);
    const response = cache.get(url) ?? (await fetch(input, init));
    if (init?.method !== 'POST') cache.set(url, response.clone());
    return response.clone();
  };
  let state = 'pending';
  const { client, serviceUrl } = await serve(
    (request, response) => respond(200, JSON.stringify({ id: 'dec_1', state }))(request, response),
    2_000,
    systemClock,
    cacheFirst,
  );
  for (state of ['pending', 'earned'])
    expect(await readReward(client, 'dec_1', 'signed')).toMatchObject({ body: { state } });
  expect(withNonce(`${serviceUrl}/healthz`)).not.toBe(withNonce(`${serviceUrl}/healthz`));
});

test.each([408, 425, 429, 500, 502, 503])('a %d is retryable', async (status) => {
  const client = await serve(respond(status, '<h1>busy</h1>', { 'retry-after': '3' }));
  expect(await client.requestDecision(request)).toEqual({
    kind: 'retry',
    status,
    retryAfterMs: 3_000,
  });
});

test('a problem document means that the request was rejected', async () => {
  const client = await serve(problem(404, 'placement_not_found'));
  expect(await client.requestDecision(request)).toMatchObject({
    kind: 'refused',
    problem: { code: 'placement_not_found' },
  });
});

test('a 413 from a proxy is reported as body_too_large', async () => {
  const client = await serve(respond(413, '<h1>Too large</h1>'));
  expect(await client.requestDecision(request)).toMatchObject({
    kind: 'refused',
    problem: { code: 'body_too_large' },
  });
});

test.each([
  ['a page', respond(200, '<html>Log in to the Wi-Fi</html>')],
  ['JSON from another server', respond(200, '{"hello":"world"}')],
  ['a 404 page', respond(404, 'Not found')],
])('%s is not a response from the service', async (_name, listener) => {
  const client = await serve(listener);
  expect(await client.requestDecision(request)).toEqual({
    kind: 'unreachable',
    cause: 'unexpected_response',
  });
});

test.each(['{"results":[null],"decisions":[]}', '{"results":[],"decisions":[7]}'])(
  '%s is not a valid response to an event batch',
  async (body) => {
    const client = await serve(respond(200, body));
    expect((await client.sendEvent()).failure?.reason).toBe('unexpected_response');
  },
);

test('sends the same JSON if a library on the page adds toJSON() to arrays and objects', async () => {
  const bodies: unknown[] = [];
  const client = await serve((request, response) => {
    request.on('data', (data: Buffer) => bodies.push(data.toString()));
    request.on('end', () => respond(200, '{}')(request, response));
  });
  const patched: object[] = [Array.prototype, Object.prototype];
  for (const prototype of patched)
    Object.defineProperty(prototype, 'toJSON', { value: () => 'spoiled', configurable: true });
  const requests = client.requestDecision({ placement: 'revive', segments: ['new', 'whale'] });
  for (const prototype of patched) Reflect.deleteProperty(prototype, 'toJSON');
  await requests;
  expect(bodies).toEqual(['{"placement":"revive","segments":["new","whale"]}']);
});

test('a server that does not respond causes a timeout', async () => {
  const clock = createManualClock();
  const arrived = createDeferred();
  const client = await serve(() => arrived.resolve(), 5_000, clock);
  const result = client.requestDecision(request);
  await arrived.promise;
  await clock.advance(5_000);
  expect(await result).toEqual({ kind: 'unreachable', cause: 'timeout' });
  expect(clock.timers()).toBe(0);
});

test('a request can be aborted before it starts and while it is in flight', async () => {
  const arrived = createDeferred();
  const client = await serve(() => arrived.resolve());
  const controller = new AbortController();
  const result = client.requestDecision(request, controller.signal);
  await arrived.promise;
  controller.abort();
  expect(await result).toEqual({ kind: 'unreachable', cause: 'aborted' });
  expect(await client.requestDecision(request, controller.signal)).toEqual(await result);
});

test('a failed decision request counts as blocked if the service is reachable', async () => {
  const client = await serve((request, response) => {
    if (request.url?.startsWith('/healthz')) respond(200, '{"status":"ok"}')(request, response);
    else request.socket.destroy();
  });
  expect(await client.requestDecision(request)).toEqual({ kind: 'unreachable', cause: 'blocked' });
});

test('a failed request counts as a network failure if the service is unreachable', async () => {
  let requests = 0;
  const client = await serve((request) => {
    requests++;
    request.socket.destroy();
  });
  expect(await client.requestDecision(request)).toEqual({ kind: 'unreachable', cause: 'network' });
  requests = 0;
  expect((await client.sendEvent()).failure?.reason).toBe('network');
  await runPendingWork();
  expect(requests).toBe(1);
});
