import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { checkAdsTxtFiles, fetchAdsTxt } from '../../src/program/cli/doctor-ads-txt.ts';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';

const agent = createGuardedAgent({ loopback: true });
let server: Server | undefined;
afterEach(() => server?.close());

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ads.txt`;
}

const text = { 'content-type': 'text/plain; charset=utf-8' };

test('fetching ads.txt follows public redirects', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/ads.txt') response.writeHead(301, { location: '/files/ads' }).end();
    else response.writeHead(200, text).end('ads.example, 1, DIRECT');
  });
  expect(await fetchAdsTxt(url, agent)).toBe('ads.example, 1, DIRECT');
});

test.each<[string, RequestListener, string]>([
  ['is missing', (_, response) => void response.writeHead(404, text).end(), '404'],
  [
    'is an HTML page',
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    'text/html',
  ],
  [
    'redirects to itself',
    (_, response) => void response.writeHead(302, { location: '/ads.txt' }).end(),
    'redirects',
  ],
  [
    'is too large',
    (_, response) => void response.writeHead(200, text).end('#'.repeat(1_048_577)),
    'bytes',
  ],
])('fetching an ads.txt file that %s fails', async (_name, listener, reason) => {
  await expect(fetchAdsTxt(await serve(listener), agent)).rejects.toThrow(reason);
});

test('a redirect to a private IP is not followed', async () => {
  const url = await serve((_, response) => {
    response.writeHead(302, { location: 'http://10.0.0.1/ads.txt' }).end();
  });
  await expect(fetchAdsTxt(url, agent)).rejects.toThrow('10.0.0.1');
});

test('an unreadable ads.txt file does not stop the checks for other sources', async () => {
  const lines = ['ads.example, 1, DIRECT', 'ads.example, 2, RESELLER'];
  const source = (id: string, domain: string) => ({
    id,
    name: 'Network',
    ads_txt: { domain, lines },
  });
  const sources = [
    source('src_1', 'a.example'),
    source('src_2', 'b.example'),
    source('src_3', 'c.example'),
  ];
  const findings = await checkAdsTxtFiles(sources, (domain) => {
    if (domain === 'c.example') return Promise.reject(new Error('it is gone'));
    return Promise.resolve(domain === 'a.example' ? lines.join('\n') : (lines[0] ?? ''));
  });
  expect(findings.map(({ state }) => state)).toEqual(['ok', 'warn', 'warn']);
  expect(findings[1]?.text).toContain('src_2');
  expect(findings[1]?.text).toContain('“ads.example, 2, RESELLER”');
  expect(findings[1]?.text).not.toContain('“ads.example, 1, DIRECT”');
  expect(findings[2]?.text).toContain('it is gone');
});

test('sellers in bid requests must be listed in ads.txt', async () => {
  const lines = ['ads.example, 1, DIRECT'];
  const source = {
    id: 'src_1',
    name: 'Bidder',
    ads_txt: { domain: 'game.example', lines },
    publisher_id: '1',
    supply_chain: [
      { asi: 'ads.example', sid: '1' },
      { asi: 'reseller.example', sid: '7' },
    ],
  } satisfies Parameters<typeof checkAdsTxtFiles>[0][number];
  const find = async (file: string, overrides: object = {}) => {
    const findings = await checkAdsTxtFiles([{ ...source, ...overrides }], () =>
      Promise.resolve(file),
    );
    return findings[0];
  };
  const complete = 'ads.example, 1, DIRECT\nReseller.example, 7, reseller, f0';
  expect((await find(complete))?.state).toBe('ok');
  expect((await find(complete.replace('7', '8')))?.text).toMatch(
    /: add the line for seller 7 at reseller\.example$/,
  );
  expect((await find(complete, { publisher_id: '9' }))?.text).toMatch(
    /: add a line with the publisher id 9$/,
  );
  expect((await find(complete, { ads_txt: undefined }))?.text).toContain('has no ads_txt');
});
