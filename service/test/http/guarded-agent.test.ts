import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';

let server: Server;
let port: number;
let requestCount = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requestCount += 1;
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
  '[::ffff:7f00:1]',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
])('the guard blocks webhook URLs with the host %s', async (host) => {
  const agent = createGuardedAgent({ loopback: false });
  const requestsBefore = requestCount;
  await expect(request(`http://${host}:${port}/`, { dispatcher: agent })).rejects.toThrow(
    /not on the public internet/,
  );
  expect(requestCount).toBe(requestsBefore);
  await agent.destroy();
});

test('local URLs are reachable without the guard and in development', async () => {
  for (const agent of [new Agent(), createGuardedAgent({ loopback: true })]) {
    const { body } = await request(`http://127.0.0.1:${port}/`, { dispatcher: agent });
    expect(await body.text()).toBe('inside');
    await agent.destroy();
  }
});

const createAgentWithDnsResponses = (responses: string[][]) => {
  const remainingResponses = responses.values();
  return createGuardedAgent({ loopback: false }, (_host, _options, callback) =>
    callback(
      null,
      (remainingResponses.next().value ?? []).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      })),
    ),
  );
};

test.each([
  [['127.0.0.1']],
  [['93.184.215.14', '127.0.0.1']],
  [['::1', '2606:4700:4700::1111']],
  [['169.254.169.254']],
  [['64:ff9b::7f00:1']],
  [['::7f00:1']],
  [['::ffff:0:7f00:1']],
  [['2002:7f00:1::']],
])('a hostname that resolves to %j is rejected', async (addresses) => {
  const agent = createAgentWithDnsResponses([addresses]);
  const requestsBefore = requestCount;
  await expect(request(`http://rebound.example:${port}/`, { dispatcher: agent })).rejects.toThrow(
    /not on the public internet/,
  );
  expect(requestCount).toBe(requestsBefore);
  await agent.destroy();
});

test('a hostname is re-resolved for every connection', async () => {
  // 192.0.2.1 is reserved for documentation (RFC 5737), so it is not a public IP.
  const agent = createAgentWithDnsResponses([['192.0.2.1'], ['127.0.0.1']]);
  for (const address of ['192.0.2.1', '127.0.0.1']) {
    await expect(request(`http://rebound.example:${port}/`, { dispatcher: agent })).rejects.toThrow(
      `The address ${address} is not on the public internet.`,
    );
  }
  await agent.destroy();
});
