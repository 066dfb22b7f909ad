import { createServer, request as requestHttp, type Server } from 'node:http';
import { lookup } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createGuardedAgent,
  type GuardedAgent,
  isAllowedAddress,
} from '../../src/platform/guarded-agent.ts';
import { requestBounded } from '../../src/platform/bounded-request.ts';
import { guardedClients } from '../outgoing-clients.ts';

/** Counts connections, so that a request that is refused only after it has connected is noticed. */
let server: Server;
let publicServer: Server;
let port: number;
let connections = 0;
const portOf = (listening: Server): number => (listening.address() as AddressInfo).port;
const urlOf = (listening: Server): string => `http://127.0.0.1:${portOf(listening)}`;
beforeAll(async () => {
  server = createServer((_request, response) => void response.end('inside'));
  server.on('connection', () => (connections += 1));
  publicServer = createServer((request, response) => {
    const to = new URL(request.url ?? '', 'http://a').searchParams.get('to') ?? '';
    // Headers are bytes.
    response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  await new Promise<void>((resolve) => publicServer.listen(0, '127.0.0.1', resolve));
  port = portOf(server);
});
afterAll(() => {
  server.close();
  publicServer.close();
});

/** The addresses of this machine, if they are not on the public internet either. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(
    ({ address, scopeid = 0 }) => scopeid === 0 && !isAllowedAddress(address, { loopback: false }),
  )
  .map(({ address }) => (address.includes(':') ? `[${address}]` : address));

const insideHosts = [
  ...ownAddresses,
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '0',
  '0.0.0.0',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[fe80::1%25lo]',
  '017700000001',
  'localhost',
  'LOCALHOST.',
  'game.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'inside.example',
  'mixed.example',
  'inside6.example',
];
const answers: Record<string, string[]> = {
  'inside.example': ['127.0.0.1'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'inside6.example': ['::1'],
};

/**
 * An agent as the service uses it, with names that resolve to this machine. Requests to `public.example` are sent to a
 * server that redirects.
 */
const createTestAgents = () => {
  const guarded = createGuardedAgent({ loopback: false }, (host, options, callback) => {
    const addresses = answers[host];
    if (!addresses) return lookup(host, options, callback);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  const strict: GuardedAgent = {
    ...guarded,
    request: (url, head) =>
      url.hostname === 'public.example'
        ? requestHttp(new URL(url.pathname + url.search, urlOf(publicServer)), { ...head })
        : guarded.request(url, head),
  };
  return { strict, development: strict };
};

/** Requests a URL, and returns the body. */
const fetchText = async (agent: Pick<GuardedAgent, 'request'>, url: string): Promise<string> => {
  const { body } = await requestBounded({ url, headers: {}, agent, signal, maxBytes: 100 });
  return body.toString();
};
const unguarded: Pick<GuardedAgent, 'request'> = {
  request: (url, head) => requestHttp(url, { ...head, agent: false }),
};

const { signal } = new AbortController();
test('no client connects to an inside address, however it is spelled, named or redirected to', async () => {
  const agents = createTestAgents();
  for (const [client, send] of Object.entries(guardedClients)) {
    for (const host of insideHosts) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${port}/`;
        const redirect = `https://public.example/?to=${encodeURIComponent(url)}`;
        for (const target of [url, redirect])
          await send(agents, target, signal).catch((error: unknown) => error);
        expect([client, url, connections]).toEqual([client, url, 0]);
      }
    }
  }
  agents.strict.destroy();
  // The listener notices connections, and these spellings do lead to it.
  for (const host of ['127.0.0.1', '2130706433', '0', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])
    await fetchText(unguarded, `http://${host}:${port}/`);
  expect(connections).toBeGreaterThan(0);
});

test.each([
  ['10.0.0.1', false],
  ['100.100.100.200', false],
  ['161.26.0.0', false],
  ['161.26.255.255', false],
  ['166.8.0.0', false],
  ['166.11.255.255', false],
  ['168.63.129.16', false],
  ['169.254.169.254', false],
  ['172.16.0.1', false],
  ['192.0.0.192', false],
  ['192.168.0.1', false],
  ['198.18.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['64:ff9b::a83f:8110', false],
  ['fd00:ec2::254', false],
  ['fe80::1', false],
  ['93.184.215.14', true],
  ['161.25.255.255', true],
  ['161.27.0.0', true],
  ['166.7.255.255', true],
  ['166.12.0.0', true],
  ['168.63.129.15', true],
  ['168.63.129.17', true],
  ['64:ff9b::5db8:d70e', true],
  ['2606:4700:4700::1111', true],
])('whether the service may connect to %s: %s', (address, isAllowed) => {
  expect(isAllowedAddress(address, { loopback: false })).toBe(isAllowed);
});

test('local URLs are reachable without the guard and in development', async () => {
  const development = createGuardedAgent({ loopback: true });
  for (const agent of [unguarded, development])
    expect(await fetchText(agent, `http://127.0.0.1:${port}/`)).toBe('inside');
  development.destroy();
});

const createAgentWithDnsResponses = (responses: string[][], rule = { loopback: false }) => {
  const remainingResponses = responses.values();
  return createGuardedAgent(rule, (_host, _options, callback) =>
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
  const connectionsBefore = connections;
  await expect(fetchText(agent, `http://rebound.example:${port}/`)).rejects.toThrow(
    /not on the public internet/,
  );
  expect(connections).toBe(connectionsBefore);
  agent.destroy();
});

test('a hostname is re-resolved for every connection', async () => {
  // 192.0.2.1 is reserved for documentation (RFC 5737), so it is not a public IP.
  const agent = createAgentWithDnsResponses([['192.0.2.1'], ['127.0.0.1']]);
  for (const address of ['192.0.2.1', '127.0.0.1']) {
    await expect(fetchText(agent, `http://rebound.example:${port}/`)).rejects.toThrow(
      `The address ${address} is not on the public internet.`,
    );
  }
  agent.destroy();
});

test('a connection goes to the address that was checked, even if the name is rebound a moment later', async () => {
  // The first answer is allowed in development. A second lookup for the same connection would get the next one.
  const agent = createAgentWithDnsResponses([['127.0.0.1'], ['192.0.2.1'], ['192.0.2.1']], {
    loopback: true,
  });
  const url = `http://rebound.example:${port}/`;
  expect([await fetchText(agent, url), await fetchText(agent, url)]).toEqual(['inside', 'inside']);
  agent.destroy();
  await expect(fetchText(agent, url)).rejects.toThrow('192.0.2.1 is not on the public internet');
});
