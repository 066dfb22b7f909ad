import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Source } from '@trueward/protocol/wire';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createCircuitBreaker } from '../../src/demand/exchange/circuit-breaker.ts';
import { createRequestOffer } from '../../src/demand/exchange/exchange.ts';
import type { OfferRequest } from '../../src/demand/exchange/offer-request.ts';
import { createRequestExternal } from '../../src/demand/exchange/external-client.ts';
import { systemClock } from '../../src/platform/time.ts';
import type { ExternalSource } from '../../src/resource/resource.ts';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';
import { createSource, offerRequest } from '../external-source.ts';
import { inline, mp4, tags, vast, wrapper } from '../unit/vast/fixtures.ts';

type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let respond: Respond;
let requests: { url: string; headers: IncomingMessage['headers']; body: string }[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    requests.push({ url: request.url ?? '', headers: request.headers, body });
    respond(request, response, body);
  });
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const agent of agents) agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
afterEach(() => {
  requests = [];
});

const agents = [
  createGuardedAgent({ loopback: false }),
  createGuardedAgent({ loopback: true }),
] as const;
const breaker = createCircuitBreaker(systemClock);
const requestOffer = createRequestOffer({
  requestExternal: createRequestExternal({
    agents: { strict: agents[0], development: agents[1] },
    breaker,
  }),
  clock: systemClock,
  random: () => 0.5,
  readHeaders: (accountId, { id }) => Promise.resolve({ authorization: `${accountId} ${id}` }),
  pause: () => nextTurn(),
  stopping: new AbortController().signal,
});

const createTagSource = (path = '/tag', fields: Partial<Source> = {}): ExternalSource =>
  createSource({ tag_url: origin + path }, fields);
const createBidderSource = (fields: Partial<Source> = {}): ExternalSource =>
  createSource({ endpoint_url: `${origin}/bid` }, fields);

const request: OfferRequest = {
  ...offerRequest,
  player: {
    ip: '203.0.113.0',
    userAgent: 'Player/1',
    language: 'en-US',
    limitAdTracking: true,
    childDirected: false,
    gdpr: true,
    tcfString: 'a consent string',
  },
  minSkipMs: 5_000,
  origin: 'https://game.example',
};
const requestFrom = (source: ExternalSource, timeoutMs = 30_000) =>
  requestOffer(source, request, timeoutMs);
const respondWithXml =
  (text: string): Respond =>
  (_request, response) => {
    response.setHeader('content-type', 'application/xml').end(text);
  };
const createAd = (path = '/ad.mp4') =>
  inline({ body: tags('Impression', `${origin}/impression`), media: mp4('', `${origin}${path}`) });

test('a tag request contains the device headers and expanded macros', async () => {
  respond = respondWithXml(vast(createAd('/ad.mp4?session=1')));
  const { offer, verdict, details } = await requestFrom(
    createTagSource('/tag?w=[PLAYERSIZE]&ip=[DEVICEIP]'),
  );
  expect(verdict).toBe('offer');
  expect(offer).toMatchObject({
    priceMicros: 2_000_000,
    currency: 'USD',
    media: { url: `${origin}/ad.mp4?session=1`, mime: 'video/mp4' },
    trackers: {
      byEvent: { impression: [`${origin}/impression`] },
      macros: { DOMAIN: 'game.example', GDPRCONSENT: 'a consent string' },
    },
  });
  expect(details).toMatchObject({ http_status: 200, ms: expect.any(Number) as number });
  expect(requests[0]).toMatchObject({
    url: '/tag?w=844,390&ip=203.0.113.0',
    headers: {
      'x-device-ip': '203.0.113.0',
      'x-device-user-agent': 'Player/1',
      'accept-language': 'en-US',
      'user-agent': 'Trueward/1',
    },
  });
});

test('custom headers are not sent to redirect or wrapper targets', async () => {
  const otherOrigin = origin.replace('127.0.0.1', 'localhost');
  respond = ({ url }, response) => {
    if (url === '/tag') response.writeHead(302, { location: `${otherOrigin}/moved` }).end();
    else response.end(url === '/moved' ? vast(wrapper(`${otherOrigin}/inner`)) : vast(createAd()));
  };
  const source = createTagSource();
  expect((await requestFrom(source)).verdict).toBe('offer');
  expect(requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/tag', `acc_1 ${source.id}`],
    ['/moved', undefined],
    ['/inner', undefined],
  ]);
});

test('an error in a wrapped ad is reported to its wrapper', async () => {
  respond = ({ url }, response) =>
    response.end(
      url === '/tag'
        ? vast(
            wrapper(`${origin}/inner`, { body: tags('Error', `${origin}/error?code=[ERRORCODE]`) }),
          )
        : vast(''),
    );
  const { verdict, notices } = await requestFrom(createTagSource());
  expect(verdict).toBe('no_bid');
  expect(notices).toEqual([{ kind: 'error', url: `${origin}/error?code=303` }]);
});

test.each<[string, Respond, RegExp]>([
  ['an empty response', respondWithXml(''), /^no_bid$/],
  [
    'a server error',
    (_request, response) => void response.writeHead(500).end(),
    /^source_error: .*500/,
  ],
  ['JSON instead of XML', respondWithXml('{"ad":1}'), /^refused: /],
  [
    'a gzip bomb',
    (_request, response) =>
      void response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(10_000_000))),
    /^source_error: The response is compressed/,
  ],
  [
    'an oversized document',
    (_request, response) => void response.end(' '.repeat(300_000)),
    /^source_error: The response is larger than 262144 bytes/,
  ],
  [
    'a redirect to a private IP',
    (_request, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    /^source_error: The URL http:\/\/10\.0\.0\.1\/ must be an https URL/,
  ],
  [
    'a redirect loop',
    (_request, response) => void response.writeHead(302, { location: '/tag' }).end(),
    /redirects more than 3 times/,
  ],
])('a tag response with %s yields no offer', async (_name, response, verdict) => {
  respond = response;
  const sourceResponse = await requestFrom(createTagSource());
  expect(sourceResponse.offer).toBeUndefined();
  expect(sourceResponse.verdict).toMatch(verdict);
});

test('a source that hangs or responds slowly times out', async () => {
  respond = () => undefined;
  expect((await requestFrom(createTagSource(), 60)).verdict).toBe('timeout');
  respond = (_request, response) => {
    response.write(' ');
    const timer = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(timer));
  };
  expect((await requestFrom(createTagSource(), 120)).verdict).toBe('timeout');
});

test("a failing source's circuit breaker opens without affecting other sources on the same host", async () => {
  respond = (_request, response) => void response.writeHead(503).end();
  const failingSource = createTagSource();
  for (let count = 0; count < 10; count += 1) await requestFrom(failingSource);
  expect((await requestFrom(failingSource)).verdict).toBe('circuit_open');
  expect(requests).toHaveLength(10);
  respond = respondWithXml(vast(createAd()));
  expect((await requestFrom(createTagSource())).verdict).toBe('offer');
});

const createBid = (members: object = {}) => ({
  id: 'b1',
  impid: '1',
  price: 3.5,
  adomain: ['www.shop.example'],
  crid: 'creative-7',
  mtype: 2,
  adm: vast(createAd()),
  nurl: `${origin}/win?p=\${AUCTION_PRICE}`,
  burl: `${origin}/bill?p=\${AUCTION_PRICE}`,
  lurl: `${origin}/loss?r=\${AUCTION_LOSS}`,
  ...members,
});
const respondWithBids =
  (...list: object[]): Respond =>
  (_request, response, body) => {
    const { id } = JSON.parse(body) as { id: string };
    response.end(JSON.stringify({ id, cur: 'USD', seatbid: [{ bid: list }] }));
  };

test('the highest bid with a usable ad wins, and the others get loss notices', async () => {
  respond = (incoming, response, body) =>
    respondWithBids(
      createBid(),
      createBid({ id: 'b2', price: 9, adm: '<no vast>' }),
      createBid({ id: 'b3', price: 2 }),
    )(incoming, response, body);
  const response = await requestFrom(createBidderSource());
  expect(response.offer).toMatchObject({
    creativeKey: 'creative-7',
    advertiserDomain: 'shop.example',
    priceMicros: 3_500_000,
    trackers: { burl: `${origin}/bill?p=3.5` },
  });
  expect(response.onWin).toEqual([{ kind: 'win', url: `${origin}/win?p=3.5` }]);
  expect(response.notices).toContainEqual({ kind: 'loss', url: `${origin}/loss?r=3` });
  expect(response.notices).toContainEqual({ kind: 'loss', url: `${origin}/loss?r=102` });
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
    test: 1,
    imp: [{ bidfloor: 1, rwdd: 1 }],
    site: { domain: 'game.example' },
  });
});

test('a bid whose ad comes with its win notice waits until it has won', async () => {
  const bid = (members: object) => createBid({ adm: undefined, ...members });
  respond = (incoming, response, body) => {
    if (incoming.url?.startsWith('/win')) response.end(vast(createAd()));
    else if (incoming.url === '/empty') response.writeHead(204).end();
    else
      respondWithBids(
        bid({ id: 'b2', price: 9, crid: 'creative-9', nurl: `${origin}/empty` }),
        bid({}),
        bid({ id: 'b3', price: 2 }),
      )(incoming, response, body);
  };
  const response = await requestFrom(createBidderSource());
  expect(requests.map(({ url }) => url)).toEqual(['/bid']);
  expect([response.verdict, response.offer, response.onWin]).toEqual(['offer', undefined, []]);
  expect(response.deferred).toMatchObject({ priceMicros: 9_000_000, creativeKey: 'creative-9' });
  expect(response.onLoss(102)).toHaveLength(3);

  // The best bid's notice brings no ad, so the next bid competes with its own price.
  const next = await response.deferred?.fetch(1_000);
  expect(requests.map(({ url }) => url)).toEqual(['/bid', '/empty']);
  expect(next?.notices).toContainEqual({ kind: 'loss', url: `${origin}/loss?r=3` });
  expect(next?.deferred).toMatchObject({ priceMicros: 3_500_000, creativeKey: 'creative-7' });
  const last = await next?.deferred?.fetch(1_000);
  expect(requests.at(-1)?.url).toBe('/win?p=3.5');
  expect(last).toMatchObject({ verdict: 'offer', onWin: [], offer: { creativeKey: 'creative-7' } });
  expect(last?.notices).toEqual([{ kind: 'loss', url: `${origin}/loss?r=102` }]);
});

test('a bid whose ad is at a URL competes with that ad, and its win notice waits until it has won', async () => {
  const bid = (members: object) =>
    createBid({ adm: `${origin}/ad?p=\${AUCTION_PRICE}`, ...members });
  const impression = tags('Impression', `${origin}/seen?p=\${AUCTION_PRICE}`);
  respond = (incoming, response, body) => {
    if (incoming.url === '/empty') response.writeHead(204).end();
    else if (incoming.url?.startsWith('/ad?'))
      response.end(vast(wrapper(`${origin}/inner`, { body: impression })));
    else if (incoming.url === '/inner') response.end(vast(inline({ body: impression })));
    else
      respondWithBids(
        bid({ id: 'b2', price: 9, crid: 'creative-9', adm: `${origin}/empty` }),
        bid({}),
        bid({ id: 'b3', price: 2 }),
      )(incoming, response, body);
  };
  const response = await requestFrom(createBidderSource());
  expect(requests.map(({ url }) => url)).toEqual(['/bid', '/empty', '/ad?p=3.5', '/inner']);
  expect(response).toMatchObject({
    verdict: 'offer',
    offer: { creativeKey: 'creative-7', priceMicros: 3_500_000 },
    onWin: [{ kind: 'win', url: `${origin}/win?p=3.5` }],
  });
  expect(response.deferred).toBeUndefined();
  // Others than the bidder's own server learn no price.
  expect(response.offer?.trackers.byEvent.impression).toEqual([
    `${origin}/seen?p=3.5`,
    `${origin}/seen?p=\${AUCTION_PRICE}`,
  ]);
  expect(response.notices).toEqual([
    { kind: 'loss', url: `${origin}/loss?r=3` },
    { kind: 'loss', url: `${origin}/loss?r=102` },
  ]);
});

test("a bid request contains its source's publisher and supply chain", async () => {
  respond = (_request, response) => void response.writeHead(204).end();
  const chain: ExternalSource['supply_chain'] = [
    { asi: 'ads.example', sid: 'pub-1' },
    { asi: 'reseller.example', sid: '7' },
  ];
  await requestFrom(createBidderSource({ publisher_id: 'pub-1', supply_chain: chain }));
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
    site: { domain: 'game.example', publisher: { id: 'pub-1' } },
    source: {
      schain: { complete: 1, ver: '1.0', nodes: chain.map((node) => ({ ...node, hp: 1 })) },
    },
  });
});

test.each<[string, Respond, RegExp]>([
  ['no content', (_request, response) => void response.writeHead(204).end(), /^no_bid$/],
  [
    'a bid below the floor',
    (request, response, body) =>
      respondWithBids(createBid({ price: 0.5 }))(request, response, body),
    /^below_floor$/,
  ],
  [
    'a price of 1e9',
    (request, response, body) =>
      respondWithBids(createBid({ price: 1e9 }))(request, response, body),
    /^refused: /,
  ],
  [
    'another currency',
    (_request, response, body) =>
      void response.end(
        JSON.stringify({
          id: (JSON.parse(body) as { id: string }).id,
          cur: 'EUR',
          seatbid: [{ bid: [createBid()] }],
        }),
      ),
    /^refused: /,
  ],
  ['HTML', (_request, response) => void response.end('<html>'), /^source_error: /],
])('a bidder response with %s yields no offer', async (_name, response, verdict) => {
  respond = response;
  expect((await requestFrom(createBidderSource())).verdict).toMatch(verdict);
});
