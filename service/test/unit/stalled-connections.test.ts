import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createHttpServer } from '../../src/http/server.ts';

/** More than the buffers of the kernel hold. */
const large = Buffer.alloc(64 * 1_024 * 1_024);

const noLimits = { stalledMs: 60_000, maxConnections: 1_000 };

afterEach(() => void vi.useRealTimers());

/** Starts a server that answers with `body`. Returns a function that requests it on a new connection. */
async function startServer(limits: Partial<typeof noLimits>, body: Buffer | string) {
  const server = createHttpServer(
    (_request, response) => void response.end(body),
    () => false,
    { ...noLimits, ...limits },
  );
  const clients: Socket[] = [];
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = (): Socket => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    return client;
  };
  return { server, request };
}

test('a connection is closed if its client does not read the answer', async () => {
  const { server, request } = await startServer({ stalledMs: 50 }, large);
  request().pause();
  const [accepted] = (await once(server, 'connection')) as [Socket];
  await once(accepted, 'close');
  expect(accepted.bytesWritten).toBeGreaterThan(0);
});

test('a client that reads gets the whole answer', async () => {
  const { request } = await startServer({}, large);
  const client = request();
  let bytes = 0;
  client.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > large.length) client.end();
  });
  await once(client, 'close');
  expect(bytes).toBeGreaterThan(large.length);
});

test('a client that holds all connections without a request does not keep others out', async () => {
  const { request } = await startServer({ maxConnections: 3 }, 'answer');
  for (const held of [request(), request(), request()]) await once(held, 'data');
  const dropped = request().resume();
  await once(dropped, 'close');
  const [answer] = (await once(request(), 'data')) as [Buffer];
  expect(answer.toString()).toContain('answer');
});

test('room is made at most every two seconds, so that dropped connections do not close others again and again', async () => {
  // The server's own timers; those of Node are not affected.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const { request } = await startServer({ maxConnections: 2 }, 'answer');
  const fill = async () => {
    const held = [request(), request()];
    for (const client of held) await once(client, 'data');
    return held;
  };
  const drop = () => once(request().resume(), 'close');
  const first = await fill();
  const firstClosed = Promise.all(first.map((client) => once(client, 'close')));
  await drop();
  await firstClosed;
  const second = await fill();
  await drop();
  for (const client of second) {
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String(((await once(client, 'data')) as [Buffer])[0])).toContain('answer');
  }
  vi.advanceTimersByTime(2_000);
  const secondClosed = Promise.all(second.map((client) => once(client, 'close')));
  await drop();
  await secondClosed;
});
