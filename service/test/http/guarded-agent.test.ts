import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGuardedAgent } from '../../src/webhook/guarded-agent.ts';

let server: Server;
let port: number;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.end('inside');
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  'localhost',
])('a webhook does not reach this machine as %s', async (host) => {
  const agent = createGuardedAgent({ loopback: false });
  const before = requests;
  await expect(request(`http://${host}:${port}/`, { dispatcher: agent })).rejects.toThrow(
    /not on the public internet/,
  );
  expect(requests).toBe(before);
  await agent.destroy();
});

test('without the guard the same address answers, and in development too', async () => {
  for (const agent of [new Agent(), createGuardedAgent({ loopback: true })]) {
    const { body } = await request(`http://127.0.0.1:${port}/`, { dispatcher: agent });
    expect(await body.text()).toBe('inside');
    await agent.destroy();
  }
});
