import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Source } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inline, mp4, tags, vast, wrapper } from '../unit/vast/fixtures.ts';
import { type MediaOrigin, startMediaOrigin } from './media-origin.ts';
import { type FilledDecision, type Game, startGame } from './reward-game.ts';

let game: Game;
/** The hostile ad server. */
let origin: MediaOrigin;
/** A server that only the service could reach. It counts connections. */
const inside = createServer((_request, response) => void response.end(vast(inline())));
let insideConnections = 0;
inside.on('connection', () => (insideConnections += 1));
/** Addresses that lead to it, and that no request may be sent to, not even for the sandbox in development. */
let insideUrls: string[];
beforeAll(async () => {
  game = await startGame();
  origin = await startMediaOrigin();
  await new Promise<void>((resolve) => inside.listen(0, '::', resolve));
  const { port } = inside.address() as AddressInfo;
  insideUrls = [
    'https://0.0.0.0',
    'http://0.0.0.0',
    'https://[::]',
    'http://[::ffff:127.0.0.1]',
  ].map((url) => `${url}:${port}`);
});
afterAll(async () => {
  await game.stop();
  await origin.stop();
  inside.close();
  inside.closeAllConnections();
});

let count = 0;
async function addSource(respond: RequestListener): Promise<Source> {
  count += 1;
  origin.serve(`/tag/${count}`, respond);
  return game.client.manage<Source>('POST', '/v1/sources', {
    name: `Network ${count}`,
    kind: 'vast',
    tag_url: `${origin.url}/tag/${count}`,
    placements: ['revive'],
    priority: 1,
    cpm_micros: 2_000_000,
    timeout_ms: 250,
  });
}
const pause = ({ id }: Source): Promise<unknown> =>
  game.client.manage('PATCH', `/v1/sources/${id}`, { status: 'paused' });
const requestAd = async (): Promise<FilledDecision> =>
  (await game.requestDecision({ user_ref: `player ${(count += 1)}`, formats: ['video', 'image'] }))
    .body;
const findVerdict = ({ explain = [] }: FilledDecision, { name }: Source): string =>
  explain.find((entry) => entry.name === name)?.verdict ?? 'not asked';

const xml =
  (text: string | Buffer, type = 'application/xml'): RequestListener =>
  (_request, response) =>
    void response.setHeader('content-type', type).end(text);
const redirect =
  (location: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(302, { location }).end();
/** An ad that could be shown if its document were acceptable. */
const ad = (): string => inline({ media: mp4('', `${origin.url}/meadow.mp4`) });
const withDoctype = (subset: string, reference: string): string =>
  vast(inline({ body: `<Advertiser>${reference}</Advertiser>` })).replace(
    '<VAST',
    `<!DOCTYPE VAST [${subset}]><VAST`,
  );

/** What a hostile ad server may answer, by what is wrong with it. */
const listAnswers = (): Record<string, RequestListener> => ({
  'a wrapper around itself': (request, response) =>
    void response.end(vast(wrapper(`${origin.url}${request.url}`))),
  'an endless chain of wrappers': (request, response) => {
    const next = `${(request.url ?? '').split('?')[0]}?${Math.random()}`;
    response.end(vast(wrapper(origin.url + next)));
  },
  'a hundred wrappers around itself': (request, response) =>
    void response.end(
      vast(...Array.from({ length: 100 }, () => wrapper(`${origin.url}${request.url}`))),
    ),
  'elements nested 20,000 levels deep': xml(vast('<Ad>'.repeat(20_000))),
  'a hundred thousand elements': xml(vast('<a/>'.repeat(60_000))),
  'a megabyte': xml(vast(ad(), `<!--${' '.repeat(1_000_000)}-->`)),
  'bare ampersands only': xml(vast(`<Ad>${'&'.repeat(250_000)}</Ad>`)),
  'attributes without an end': xml(`<VAST ${'a="'.repeat(80_000)}`),
  'CDATA without an end': xml(vast(`<Ad><![CDATA[${']'.repeat(200_000)}`)),
  'entities that expand to gigabytes': xml(
    withDoctype(
      `<!ENTITY a "${'a'.repeat(500)}">${Array.from('bcdefgh', (name, index) => `<!ENTITY ${name} "${`&${'abcdefg'[index]};`.repeat(20)}">`).join('')}`,
      '&h;',
    ),
  ),
  'an entity that is a file': xml(withDoctype('<!ENTITY a SYSTEM "file:///etc/passwd">', '&a;')),
  'an entity inside': xml(withDoctype(`<!ENTITY a SYSTEM "${insideUrls[1]}/a">`, '&a;')),
  'a document type inside': xml(
    vast(ad()).replace('<VAST', `<!DOCTYPE VAST SYSTEM "${insideUrls[1]}/a.dtd"><VAST`),
  ),
  'a stylesheet inside': xml(
    vast().replace('<VAST', `<?xml-stylesheet href="${insideUrls[1]}/a.xsl"?><VAST`),
  ),
  'half of UTF-16': xml(Buffer.from(`\ufeff${vast()}`, 'utf16le').subarray(0, -1)),
  'another encoding than declared': xml(
    Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
    'application/xml; charset=utf-8',
  ),
  'an encoding that does not exist': xml(vast(), 'application/xml; charset=utf-7'),
  'U+0000 and other controls': xml(vast(`<Ad>\0\u0001\u0085\ufffe</Ad>`)),
  'compression that was not asked for': (_request, response) =>
    void response
      .setHeader('content-encoding', 'gzip')
      .end(gzipSync(Buffer.alloc(20_000_000, 'a'))),
  'a page instead of an ad': xml(
    '<!doctype html><html><body><script>alert(1)</script></body></html>',
    'text/html',
  ),
  'a body that arrives byte by byte': (_request, response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
  'a body without an end': (_request, response) => {
    const fill = (): void => void (response.destroyed || response.write(' '.repeat(65_536), fill));
    fill();
  },
  'headers without an end': ({ socket }) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 200 OK\r\nX-A: '.slice(0, 1)), 20);
    socket.on('close', () => clearInterval(timer));
  },
  'headers of a megabyte': ({ socket }) =>
    void socket.end(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(1_000_000)}\r\n\r\n`),
  'a body that ends early': (_request, response) => {
    response.setHeader('content-length', '9000').write('<VAST');
    response.destroy();
  },
  'no HTTP': ({ socket }) => void socket.end('SSH-2.0-hostile\r\n'),
  'a redirect around itself': (request, response) => redirect(request.url ?? '')(request, response),
  'a redirect to a file': redirect('file:///etc/passwd'),
  'a redirect to a script': redirect('javascript:alert(1)'),
  'a redirect to data': redirect('data:application/xml,<VAST/>'),
  'a redirect of 15 KB': redirect(`/${'a'.repeat(15_000)}`),
  'a wrapper around a script': xml(vast(wrapper('javascript:alert(1)'))),
  'a wrapper around data': xml(vast(wrapper('data:application/xml,<VAST/>'))),
  'a wrapper around a file': xml(vast(wrapper('file:///etc/passwd'))),
  'a script as the video': xml(vast(inline({ media: mp4('', 'javascript:alert(1)') }))),
  'data as the video': xml(vast(inline({ media: mp4('', 'data:video/mp4;base64,AAAA') }))),
  ...Object.fromEntries(
    insideUrls.flatMap((url): [string, RequestListener][] => [
      [`a redirect to ${url}`, redirect(`${url}/moved`)],
      [`a wrapper around ${url}`, xml(vast(wrapper(`${url}/inner`)))],
      [
        `errors to report to ${url}`,
        xml(vast(wrapper(`${origin.url}/none`, { body: tags('Error', `${url}/error`) }))),
      ],
    ]),
  ),
});

/** Connections have to arrive before they are counted. */
const nextTurns = (): Promise<unknown> =>
  expect.poll(async () => (await fetch(`${game.url}/readyz`)).status).toBe(200);

test('no answer of an ad server delays players beyond its timeout, or leads the service elsewhere', async () => {
  const failures: unknown[] = [];
  for (const [name, respond] of Object.entries(listAnswers())) {
    const source = await addSource(respond);
    const requestsBefore = origin.requests.length;
    const startedAtMs = performance.now();
    const decision = await requestAd();
    const tookMs = performance.now() - startedAtMs;
    const requests = origin.requests.length - requestsBefore;
    const verdict = findVerdict(decision, source);
    const isHouseAd = decision.explain?.some(
      ({ verdict: v, house_ad_id: id }) => id && v === 'chosen',
    );
    const isRefused = /^(refused|source_error|timeout|no_bid)/.test(verdict);
    // The timeout, and what a busy machine adds.
    if (!isRefused || !isHouseAd || tookMs > 2_000 || requests > 11)
      failures.push([name, verdict, { isHouseAd, tookMs, requests }]);
    await pause(source);
  }
  expect(failures).toEqual([]);
  await nextTurns();
  expect(insideConnections).toBe(0);
  // The listener notices connections.
  await fetch((insideUrls[1] ?? '').replace('0.0.0.0', '127.0.0.1'));
  expect(insideConnections).toBe(1);
});
