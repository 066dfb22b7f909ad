import { getEventListeners, once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createCircuitBreaker } from '../../src/demand/exchange/circuit-breaker.ts';
import { createRequestExternal } from '../../src/demand/exchange/external-client.ts';
import { BodyTooLargeError, requestBounded } from '../../src/platform/bounded-request.ts';
import { createGuardedAgent, type GuardedAgent } from '../../src/platform/guarded-agent.ts';
import { systemClock } from '../../src/platform/time.ts';
import { createTrackerSender } from '../../src/demand/tracker/make-request.ts';

const agent = createGuardedAgent({ loopback: true });
afterAll(() => agent.destroy());
const stopping = new AbortController();
let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

/** Starts a server that calls `respond` to write a raw response to each request, and returns its URL. */
async function serve(respond: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // A client that aborts a request resets the connection.
    socket.on('data', () => respond(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?a=1`;
}

const get = (url: string, options: { timeoutMs?: number; keepBytes?: number } = {}) =>
  requestBounded({
    url,
    headers: {},
    agent,
    signal: stopping.signal,
    maxBytes: 10,
    ...options,
  });
const respondWith = (text: string) => (socket: Socket) => void socket.write(text);
const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

test('a complete response has no error, and its connection is reused', async () => {
  const url = await serve(respondWith(ok('0123456789')));
  for (let count = 0; count < 3; count += 1) {
    const response = await get(url);
    expect([response.status, response.body.toString()]).toEqual([200, '0123456789']);
    expect(response.bodyError).toBeUndefined();
    // A connection returns to its pool in the next turn of the event loop.
    await new Promise(setImmediate);
  }
  expect(sockets.size).toBe(1);
});

test.each([
  ['are returned', undefined, '0123456789'],
  ['are returned as far as they are kept', 4, '0123'],
])(
  'a body over the size limit closes the connection, and the bytes within the limit %s',
  async (_, keepBytes, kept) => {
    const url = await serve(respondWith(ok('0123456789a')));
    const response = await get(url, keepBytes === undefined ? {} : { keepBytes });
    expect([response.status, response.body.toString()]).toEqual([200, kept]);
    expect(response.bodyError).toBeInstanceOf(BodyTooLargeError);
    const [socket] = sockets;
    if (socket?.destroyed === false) await once(socket, 'close');
  },
);

test('a body longer than `keepBytes` is read to the end', async () => {
  const response = await get(await serve(respondWith(ok('0123456789'))), { keepBytes: 4 });
  expect(response.body.toString()).toBe('0123');
  expect(response.bodyError).toBeUndefined();
});

test.each([
  ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
  ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['an unexpected 100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['several', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 \r\n\r\n'],
])('informational responses are skipped: %s', async (_, informational) => {
  const url = await serve(respondWith(informational + ok('final')));
  for (const body of [undefined, '{}'])
    expect(
      await requestBounded({
        url,
        method: body === undefined ? 'GET' : 'POST',
        headers: {},
        agent,
        signal: stopping.signal,
        maxBytes: 10,
        ...(body === undefined ? {} : { body }),
      }),
    ).toMatchObject({ status: 200, body: Buffer.from('final') });
});

test('a switch to another protocol fails at once', async () => {
  const url = await serve(
    respondWith('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  );
  await expect(get(url, { timeoutMs: 60_000 })).rejects.toThrow('answered with 101');
});

test('a timeout after the headers returns the status and the partial body', async () => {
  const url = await serve(respondWith('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow'));
  const response = await get(url, { timeoutMs: 50 });
  expect([response.status, response.body.toString()]).toEqual([200, 'slow']);
  expect(response.bodyError).toMatchObject({ name: 'TimeoutError' });
});

/** Creates an agent that never connects, as if the host dropped all packets. */
const createUnconnectedAgent = (): GuardedAgent =>
  createGuardedAgent({ loopback: true }, () => undefined);

test('a request that is still waiting for a connection times out', async () => {
  const unconnectedAgent = createUnconnectedAgent();
  let started = false;
  const request = requestBounded({
    url: 'http://silent.example/',
    headers: {},
    agent: unconnectedAgent,
    signal: stopping.signal,
    maxBytes: 10,
    timeoutMs: 50,
    onStart: () => (started = true),
  });
  await expect(request).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(started).toBe(false);
  unconnectedAgent.destroy();
});

test('a tracker request that times out before it connects can be retried', async () => {
  const unconnectedAgent = createUnconnectedAgent();
  const sendTo = (agent: GuardedAgent, url: string) =>
    createTrackerSender({ agents: { strict: agent, development: agent }, timeoutMs: 50 })(
      { url, headers: {}, loopback: true },
      stopping.signal,
    );
  expect(await sendTo(unconnectedAgent, 'http://silent.example/pixel')).toEqual({
    error: 'timeout',
    reached: false,
  });
  // This server received the request, so it may have counted the impression.
  expect(await sendTo(agent, await serve(() => undefined))).toEqual({
    error: 'timeout',
    reached: true,
  });
  unconnectedAgent.destroy();
});

test('a redirect with a body that never ends counts as a failure of the redirecting host', async () => {
  const url = await serve(
    respondWith(
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 9\r\n\r\nslow',
    ),
  );
  const outcomes: [host: string, succeeded: boolean][] = [];
  const requestExternal = createRequestExternal({
    agents: { strict: agent, development: agent },
    breaker: {
      ...createCircuitBreaker(systemClock),
      record: (_sourceId, host, succeeded) => void outcomes.push([host, succeeded]),
    },
  });
  const response = await requestExternal({
    sourceId: 'src_1',
    url,
    headers: {},
    loopback: true,
    sandbox: true,
    signal: AbortSignal.timeout(50),
  });
  expect(response).toMatchObject({ status: 'failed', kind: 'timeout' });
  expect(outcomes).toEqual([[new URL(url).host, false]]);
});

test('aborting before or during a request rejects it with the abort reason', async () => {
  const url = await serve(() => undefined);
  const controller = new AbortController();
  const send = () =>
    requestBounded({ url, headers: {}, agent, signal: controller.signal, maxBytes: 10 });
  const request = send();
  await once(server as Server, 'connection');
  controller.abort(new Error('stopping'));
  await expect(request).rejects.toThrow('stopping');
  await expect(send()).rejects.toThrow('stopping');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('an invalid header rejects the promise instead of throwing synchronously', async () => {
  const request = requestBounded({
    url: await serve(respondWith(ok(''))),
    headers: { 'x-header': 'a\nb' },
    agent,
    signal: stopping.signal,
    maxBytes: 10,
  });
  await expect(request).rejects.toThrow('header');
});
