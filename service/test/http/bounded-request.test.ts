import { getEventListeners, once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { createCircuitBreaker } from '../../src/exchange/circuit-breaker.ts';
import { createRequestExternal } from '../../src/exchange/external-client.ts';
import { BodyTooLargeError, requestBounded } from '../../src/platform/bounded-request.ts';
import { systemClock } from '../../src/platform/time.ts';
import { createTrackerSender } from '../../src/tracker/make-request.ts';

const dispatcher = new Agent();
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

/** Starts a server that sends raw responses to each request. Returns its URL. */
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
    dispatcher,
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
    // undici makes a connection available again in the next turn of the event loop.
    await new Promise(setImmediate);
  }
  expect(sockets.size).toBe(1);
});

test('a body with more than the maximum closes the connection, and its start is returned', async () => {
  const url = await serve(respondWith(ok('0123456789a')));
  const response = await get(url);
  expect([response.status, response.body.toString()]).toEqual([200, '0123456789']);
  expect(response.bodyError).toBeInstanceOf(BodyTooLargeError);
  const [socket] = sockets;
  if (socket?.destroyed === false) await once(socket, 'close');
});

test('bytes that are not kept are still read', async () => {
  const response = await get(await serve(respondWith(ok('0123456789'))), { keepBytes: 4 });
  expect(response.body.toString()).toBe('0123');
  expect(response.bodyError).toBeUndefined();
});

test('an informational response is not the final one', async () => {
  const url = await serve(
    respondWith(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('final')}`),
  );
  expect(await get(url)).toMatchObject({ status: 200, body: Buffer.from('final') });
});

test('a timeout after the headers returns the status and the part that was received', async () => {
  const url = await serve(respondWith('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow'));
  const response = await get(url, { timeoutMs: 50 });
  expect([response.status, response.body.toString()]).toEqual([200, 'slow']);
  expect(response.bodyError).toMatchObject({ name: 'TimeoutError' });
});

/** Creates an agent that never gets a connection, like one whose host drops all packets. */
const createUnconnectedAgent = () => new Agent({ connect: () => undefined });

test('a timeout ends a request that is still waiting for a connection', async () => {
  const unconnected = createUnconnectedAgent();
  let started = false;
  const request = requestBounded({
    url: 'http://127.0.0.1:9/',
    headers: {},
    dispatcher: unconnected,
    signal: stopping.signal,
    maxBytes: 10,
    timeoutMs: 50,
    onStart: () => (started = true),
  });
  await expect(request).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(started).toBe(false);
  await unconnected.destroy();
});

test('a tracker whose host could not be connected to in time can be requested again', async () => {
  const unconnected = createUnconnectedAgent();
  const sendTo = (agent: Agent, url: string) =>
    createTrackerSender({ agents: { strict: agent, development: agent }, timeoutMs: 50 })(
      { url, headers: {}, loopback: true },
      stopping.signal,
    );
  expect(await sendTo(unconnected, 'http://127.0.0.1:9/pixel')).toEqual({
    error: 'timeout',
    reached: false,
  });
  // This server may have counted the impression.
  expect(await sendTo(dispatcher, await serve(() => undefined))).toEqual({
    error: 'timeout',
    reached: true,
  });
  await unconnected.destroy();
});

test('a redirect whose body never ends counts as a failure of the host that sent it', async () => {
  const url = await serve(
    respondWith(
      'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 9\r\n\r\nslow',
    ),
  );
  const recorded: [host: string, succeeded: boolean][] = [];
  const requestExternal = createRequestExternal({
    agents: { strict: dispatcher, development: dispatcher },
    breaker: {
      ...createCircuitBreaker(systemClock),
      record: (_sourceId, host, succeeded) => void recorded.push([host, succeeded]),
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
  expect(recorded).toEqual([[new URL(url).host, false]]);
});

test('an abort rejects with its reason, before and during the request', async () => {
  const url = await serve(() => undefined);
  const controller = new AbortController();
  const send = () =>
    requestBounded({ url, headers: {}, dispatcher, signal: controller.signal, maxBytes: 10 });
  const running = send();
  await once(server as Server, 'connection');
  controller.abort(new Error('stopping'));
  await expect(running).rejects.toThrow('stopping');
  await expect(send()).rejects.toThrow('stopping');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('an invalid header rejects instead of throwing', async () => {
  const request = requestBounded({
    url: await serve(respondWith(ok(''))),
    headers: { 'x-header': 'a\nb' },
    dispatcher,
    signal: stopping.signal,
    maxBytes: 10,
  });
  await expect(request).rejects.toThrow('header');
});
