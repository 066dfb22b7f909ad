import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createFetchMedia,
  type FetchMedia,
  RejectedError,
} from '../../src/demand/intake/fetch-media.ts';
import { createGuardedAgent, type GuardedAgents } from '../../src/platform/guarded-agent.ts';

let agents: GuardedAgents;
let fetchMedia: FetchMedia;
beforeAll(() => {
  agents = {
    strict: createGuardedAgent({ loopback: false }),
    development: createGuardedAgent({ loopback: true }),
  };
  fetchMedia = createFetchMedia({ agents, timeoutMs: 400 });
});
afterAll(() => {
  agents.strict.destroy();
  agents.development.destroy();
});

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

/**
 * Starts a TCP server that passes each connection to the test, which writes raw responses. Returns the server's URL.
 */
async function startServer(handleSocket: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // The client may reset the connection.
    socket.once('data', () => handleSocket(socket));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ad.mp4`;
}

const attempt = (url: string, signal = new AbortController().signal) =>
  fetchMedia({ url, maxBytes: 1_000, loopback: true }, signal).then(
    ({ body }) => body.length,
    (error: unknown) => error as RejectedError,
  );

test.each<[string, (socket: Socket) => void]>([
  ['never responds', () => undefined],
  [
    'sends single bytes slowly',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n');
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    },
  ],
  [
    'sends headers slowly',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('a: b\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    },
  ],
])('a request to a server that %s fails with a transient error', async (_name, handleSocket) => {
  const error = await attempt(await startServer(handleSocket));
  expect(error).toBeInstanceOf(RejectedError);
  expect(error).toMatchObject({
    isTransient: true,
    message: expect.stringMatching(/took more than 0.4 s/) as string,
  });
});

test.each<[string, string, RegExp, boolean]>([
  ['a broken connection', 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nab', /fetched/, true],
  ['a server error', 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n', /responded 503/, true],
  ['a forbidden file', 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n', /responded 403/, false],
  [
    'a partial response',
    'HTTP/1.1 206 Part\r\ncontent-length: 2\r\n\r\nab',
    /responded 206/,
    false,
  ],
])('%s is an error', async (_name, response, message, isTransient) => {
  const error = await attempt(await startServer((socket) => socket.end(response)));
  expect(error).toMatchObject({ isTransient, message: expect.stringMatching(message) as string });
});

test('a file may be three redirects away, but not four', async () => {
  let redirectsLeft = 0;
  const url = await startServer((socket) => {
    redirectsLeft -= 1;
    const redirect = `HTTP/1.1 302 Found\r\nlocation: ${new URL(url).pathname}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;
    const file = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nab';
    socket.end(redirectsLeft >= 0 ? redirect : file);
  });
  redirectsLeft = 3;
  expect(await attempt(url)).toBe(2);
  redirectsLeft = 4;
  expect(await attempt(url)).toMatchObject({
    message: expect.stringMatching(/redirects more than 3 times/) as string,
  });
});

test('a compressed body is returned without being decompressed', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n';
  expect(await attempt(await startServer((socket) => socket.end(`${head}bytes`)))).toBe(5);
});

test('aborting the signal aborts the request', async () => {
  const stopController = new AbortController();
  const url = await startServer(() => stopController.abort());
  expect(await attempt(url, stopController.signal)).toBeInstanceOf(RejectedError);
});

test('a hostname that resolves to this machine is rejected outside development', async () => {
  let requests = 0;
  const url = await startServer(() => {
    requests += 1;
  });
  const hostnameUrl = url.replace('http:', 'https:').replace('127.0.0.1', 'localhost');
  const request = { url: hostnameUrl, maxBytes: 1_000, loopback: false };
  await expect(fetchMedia(request, new AbortController().signal)).rejects.toThrow(
    /must not be a loopback address/,
  );
  expect(requests).toBe(0);
});
