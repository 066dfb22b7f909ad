import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/time.ts';
import { createGuardedAgent, type GuardedAgent } from '../../src/platform/guarded-agent.ts';
import { createSender, type Send } from '../../src/webhook/sender.ts';

let agent: GuardedAgent;
let send: Send;
beforeAll(() => {
  agent = createGuardedAgent({ loopback: true });
  send = createSender({
    clock: systemClock,
    agents: { strict: agent, development: agent },
    timeoutMs: 300,
  });
});
afterAll(() => agent.destroy());

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
});

/**
 * Starts a TCP server that passes each connection to the test, which writes raw responses. Returns the server's URL.
 */
async function startServer(respond: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // The sender may reset the connection.
    socket.once('data', () => respond(socket));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const deliver = (url: string) =>
  send(
    { url, id: 'evt_1', body: '{}', secrets: ['whsec_AAAA'], loopback: true },
    new AbortController().signal,
  );

test.each<[string, (socket: Socket) => void, object]>([
  ['closes the connection', (socket) => socket.destroy(), { error: expect.any(String) as string }],
  ['never responds', () => undefined, { error: 'no response within 0.3 s' }],
  [
    'does not speak HTTP',
    (socket) => socket.end('220 mail.example ESMTP\r\n'),
    { error: expect.any(String) as string },
  ],
  [
    'never ends its headers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.write(`X: ${'x'.repeat(100_000)}`);
    },
    { error: expect.any(String) as string },
  ],
  [
    'redirects',
    (socket) =>
      socket.end(
        'HTTP/1.1 307 Moved\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n',
      ),
    { status: 307 },
  ],
  [
    'fails',
    (socket) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno'),
    { status: 500, response: 'no' },
  ],
  [
    'sends less than its Content-Length',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort'),
    { status: 200, response: 'short' },
  ],
  [
    'sends more than its Content-Length',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n'),
    { status: 200, response: 'ok' },
  ],
  [
    'never completes its response',
    (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow'),
    { status: 200, response: 'slow' },
  ],
  [
    'sends an endless body',
    (socket) => {
      const writeMore = () => void (socket.writable && socket.write('x'.repeat(65_536), writeMore));
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n', writeMore);
    },
    expect.objectContaining({ latencyMs: expect.any(Number) as number }) as object,
  ],
])(
  'an attempt to deliver to a receiver that %s ends within the time limit',
  async (_what, respond, expected) => {
    const result = await deliver(await startServer(respond));
    expect(result).toMatchObject(expected);
    expect(result.response?.length ?? 0).toBeLessThanOrEqual(1_024);
  },
);

test('a refused connection is reported as an error', async () => {
  const url = await startServer(() => undefined);
  await new Promise((resolve) => server?.close(resolve));
  server = undefined;
  expect((await deliver(url)).error).toContain('ECONNREFUSED');
});

test('without an active secret, nothing is sent', async () => {
  const url = await startServer((socket) => void socket.end(noContent));
  const request = { url, id: 'evt_1', body: '{}', secrets: [], loopback: true };
  expect(await send(request, new AbortController().signal)).toMatchObject({
    error: 'the webhook has no active signing secret',
    notSent: true,
  });
  expect(sockets.size).toBe(0);
});

test('a delivery reaches this machine only if it may', async () => {
  const strict = createGuardedAgent({ loopback: false });
  const agents = { strict, development: agent };
  const guarded = createSender({ clock: systemClock, agents, timeoutMs: 300 });
  const url = await startServer((socket) => void socket.end(noContent));
  const request = { url, id: 'evt_1', body: '{}', secrets: ['whsec_AAAA'] };
  const { signal } = new AbortController();
  const refused = await guarded({ ...request, loopback: false }, signal);
  expect(refused.error).toContain('is not on the public internet');
  expect(sockets.size).toBe(0);
  expect(await guarded({ ...request, loopback: true }, signal)).toMatchObject({ status: 204 });
  strict.destroy();
});

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n';
