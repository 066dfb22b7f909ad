import { once } from 'node:events';
import { Agent, request, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { FrontServer } from '../../src/http/front/front-server.ts';
import type { PlainAnswer } from '../../src/http/front/plain-exchange.ts';

const servers: FrontServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Plain requests are answered when `answer` is called, the others by the listener. */
async function start(listener: RequestListener = () => undefined, keepAliveTimeout = 72_000) {
  const server = new FrontServer({ keepAliveTimeout }, listener);
  servers.push(server);
  const asked: string[] = [];
  const waiting: ((answer: PlainAnswer) => void)[] = [];
  server.plain = {
    takes: ({ path }) => path === '/plain',
    answer({ body }) {
      asked.push(body);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    asked,
    answer: (body: string, isLast = false) =>
      waiting.shift()?.({ status: 200, headers: {}, body, isLast }),
  };
}

const post = (body: string): string =>
  `POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

function open(port: number) {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  let answered = '';
  socket.on('data', (chunk: Buffer) => (answered += chunk.toString()));
  return { socket, answered: () => answered, closed: once(socket, 'close') };
}

test('requests that come at once are answered one after the other', async () => {
  const { port, asked, answer } = await start();
  const { socket, answered } = open(port);
  socket.write(post('one') + post('two') + post('three').slice(0, -2));
  await expect.poll(() => asked).toEqual(['one']);
  answer('1');
  await expect.poll(() => asked).toEqual(['one', 'two']);
  answer('2');
  await expect.poll(() => answered().match(/\r\n\r\n\d/g)?.length).toBe(2);
  socket.write('ee');
  await expect.poll(() => asked).toEqual(['one', 'two', 'three']);
});

test('what came of one client is kept while others send', async () => {
  const { port, asked, answer } = await start((incoming, response) => incoming.pipe(response));
  const [half, ahead, node] = [open(port), open(port), open(port)];
  half.socket.write(post('first half, second half').slice(0, -11));
  ahead.socket.write(post('at once') + post('behind it'));
  await expect.poll(() => asked).toEqual(['at once']);
  node.socket.write(`POST /node HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n${'n'.repeat(9)}`);
  await expect.poll(node.answered).toContain('nnnnnnnnn');
  half.socket.write('second half');
  await expect.poll(() => asked).toEqual(['at once', 'first half, second half']);
  answer('1');
  await expect.poll(() => asked.slice(2)).toEqual(['behind it']);
});

test('megabytes pass in both directions, and the connection goes on', async () => {
  const { port, asked, answer } = await start((incoming, response) => {
    incoming.pipe(response);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sent = Buffer.alloc(8_000_000, 'abcdefghijklmnop');
  const send = (method: string, path: string, body?: Buffer) =>
    new Promise<{ status: number; body: Buffer; reused: boolean }>((resolve, reject) => {
      const headers = body ? { 'content-length': body.length } : {};
      const sending = request({ port, method, path, agent, headers }, (response) => {
        void buffer(response).then((text) => {
          resolve({ status: response.statusCode ?? 0, body: text, reused: sending.reusedSocket });
        }, reject);
      });
      sending.once('error', reject);
      sending.end(body);
    });
  const echoed = await send('POST', '/echo', sent);
  expect(echoed.body.equals(sent)).toBe(true);
  const plain = send('POST', '/plain', Buffer.from('after'));
  await expect.poll(() => asked).toEqual(['after']);
  answer('ok');
  expect(await plain).toMatchObject({ status: 200, reused: true });
  const again = await send('POST', '/echo', sent);
  expect(again.body.equals(sent)).toBe(true);
  expect(again.reused).toBe(true);
  agent.destroy();
});

test('a server that stops closes idle connections, and a busy one after its answer', async () => {
  const { server, port, asked, answer } = await start((_, response) => response.end('node'));
  const [fresh, used, busy] = [open(port), open(port), open(port)];
  used.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await expect.poll(used.answered).toContain('node');
  busy.socket.write(post('one'));
  await expect.poll(() => asked).toEqual(['one']);
  const stopped = new Promise((resolve) => server.close(resolve));
  await fresh.closed;
  await used.closed;
  expect(busy.socket.closed).toBe(false);
  answer('the last', true);
  await Promise.all([stopped, busy.closed]);
  expect(busy.answered()).toMatch(/\r\nConnection: close\r\n\r\nthe last$/);
});

test('a client that is silent is given up, but not while it waits for its answer', async () => {
  const { port, asked, answer } = await start(undefined, 200);
  const [silent, half, waiting] = [open(port), open(port), open(port)];
  half.socket.write(post('half').slice(0, -1));
  waiting.socket.write(post('whole'));
  await silent.closed;
  await half.closed;
  expect(asked).toEqual(['whole']);
  expect(waiting.socket.closed).toBe(false);
  answer('late');
  await expect.poll(waiting.answered).toContain('late');
  await waiting.closed;
});

test('a client that is silent is given up, whatever was left to node:http', async () => {
  const { port } = await start((_, response) => response.end('node'), 200);
  const [answered, blank] = [open(port), open(port)];
  answered.socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x\r\n\r\n');
  blank.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await expect.poll(blank.answered).toContain('node');
  blank.socket.write('\r\n');
  await Promise.all([answered.closed, blank.closed]);
  expect(answered.answered()).toContain('node');
});

test('a client that has sent all it will is answered, and the connection closed', async () => {
  const { port, asked, answer } = await start();
  const { socket, answered, closed } = open(port);
  socket.end(post('one'));
  await expect.poll(() => asked).toEqual(['one']);
  answer('only');
  await once(socket, 'end');
  expect(answered()).toContain('only');
  await closed;
});

test('a client that goes away before its answer harms nobody', async () => {
  const { server, port, asked, answer } = await start();
  const gone = open(port);
  gone.socket.write(post('one'));
  await expect.poll(() => asked).toEqual(['one']);
  gone.socket.resetAndDestroy();
  await expect
    .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
    .toBe(0);
  answer('nobody reads this');
  const next = open(port);
  next.socket.write(post('two'));
  await expect.poll(() => asked).toEqual(['one', 'two']);
  answer('two');
  await expect.poll(next.answered).toContain('two');
});

test.each(['a long poll', 'a stream of events'])(
  '%s learns that its client has gone',
  async (what) => {
    const heard: string[] = [];
    const { port } = await start((_, response) => {
      if (what === 'a stream of events') response.write('data: 1\n\n');
      heard.push('asked');
      response.once('close', () => heard.push('gone'));
    });
    const { socket } = open(port);
    socket.write(`GET /wait HTTP/1.1\r\nHost: a\r\n\r\n${post('one')}`);
    await expect.poll(() => heard).toEqual(['asked']);
    socket.destroy();
    await expect.poll(() => heard).toEqual(['asked', 'gone']);
  },
);

test('an answer of node:http goes out, though what follows it is an error', async () => {
  const { port } = await start((_, response) => response.end('early'));
  const { socket, answered, closed } = open(port);
  // `node:http` writes twice here before it reads on.
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\nnonsense');
  await closed;
  expect(answered()).toContain('early');
});

test('a server that stops waits for a body that has begun to come', async () => {
  const { server, port, asked, answer } = await start();
  const accepted = once(server, 'connection');
  const { socket, answered, closed } = open(port);
  const begun = post('whole').slice(0, -1);
  socket.write(begun);
  await accepted;
  const [taken] = server.clients;
  await expect.poll(() => taken?.socket.bytesRead).toBe(begun.length);
  const stopped = new Promise((resolve) => server.close(resolve));
  socket.write('e');
  await expect.poll(() => asked).toEqual(['whole']);
  answer('the last', true);
  await Promise.all([stopped, closed]);
  expect(answered()).toMatch(/the last$/);
});

test('a server that stops sends what it has answered', async () => {
  const { server, port, asked, answer } = await start();
  const accepted = once(server, 'connection');
  const { socket, answered, closed } = open(port);
  socket.pause();
  socket.write(post('one'));
  await expect.poll(() => asked).toEqual(['one']);
  // More than the two ends of a connection hold.
  answer('x'.repeat(16_000_000));
  await accepted;
  const [taken] = server.clients;
  await expect.poll(() => taken?.socket.writableLength).toBeGreaterThan(0);
  const stopped = new Promise((resolve) => server.close(resolve));
  socket.resume();
  await Promise.all([stopped, closed]);
  expect(answered().length).toBeGreaterThan(16_000_000);
});

test('a client that asks on and does not read its answers is left to node:http, which waits', async () => {
  let byNode = 0;
  const { port, asked, answer } = await start((_, response) => {
    byNode += 1;
    response.end();
  });
  const { socket } = open(port);
  socket.pause();
  socket.write(post('one'));
  await expect.poll(() => asked).toEqual(['one']);
  // More than the two ends of a connection hold.
  answer('x'.repeat(64_000_000));
  socket.write(post('two'));
  await expect.poll(() => byNode).toBe(1);
  expect(asked).toEqual(['one']);
  socket.destroy();
});

test('a head that is the same but for one character is read anew', async () => {
  const server = new FrontServer({ keepAliveTimeout: 72_000 }, () => undefined);
  servers.push(server);
  server.plain = {
    takes: () => true,
    answer: async ({ head: { headers }, body }) => ({
      status: 200,
      headers: {},
      body: `${headers['x']} ${body};`,
      isLast: false,
    }),
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { socket, answered } = open((server.address() as AddressInfo).port);
  const ask = (x: string, body: string): string =>
    `POST / HTTP/1.1\r\nHost: a\r\nX: ${x}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(ask('1', 'a') + ask('1', 'b') + ask('2', 'c') + ask('2', 'de') + ask('1', 'f'));
  const bodies = () => [...answered().matchAll(/(\d \w+);/g)].map(([, body]) => body);
  await expect.poll(bodies).toEqual(['1 a', '1 b', '2 c', '2 de', '1 f']);
});
