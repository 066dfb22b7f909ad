import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { lossReasons } from '../../src/demand/openrtb/response.ts';
import { createCircuitBreaker } from '../../src/demand/exchange/circuit-breaker.ts';
import { createRequestOffer } from '../../src/demand/exchange/exchange.ts';
import type { SourceResponse } from '../../src/demand/exchange/offer-request.ts';
import { createRequestExternal } from '../../src/demand/exchange/external-client.ts';
import { systemClock } from '../../src/platform/time.ts';
import { createGuardedAgent } from '../../src/platform/guarded-agent.ts';
import type { ExternalSource } from '../../src/resource/resource.ts';
import { createSource, offerRequest } from '../external-source.ts';
import { applyEdit, chain, edit, fragments } from '../unit/vast/edits.ts';
import { type Documents, inline, vast } from '../unit/vast/fixtures.ts';

/**
 * The response for each path. `REQUEST_ID` is replaced with the bid request's id. The server does not respond to paths
 * whose value is undefined.
 */
const documents = new Map<string, string | undefined>();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const path = request.url?.split('?')[0] ?? '';
    if (!documents.has(path)) return void response.writeHead(404).end();
    const text = documents.get(path);
    if (text === undefined) return;
    const body = Buffer.concat(chunks).toString();
    const id = body === '' ? '' : (JSON.parse(body) as { id: string }).id;
    response.end(text.replace('REQUEST_ID', id));
  });
});
// With a shorter timeout, the server could close an idle connection just as the client sends a request on it.
server.keepAliveTimeout = 600_000;
let origin = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
const agent = createGuardedAgent({ loopback: true });
afterAll(async () => {
  agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const requestOffer = createRequestOffer({
  requestExternal: createRequestExternal({
    agents: { strict: agent, development: agent },
    breaker: createCircuitBreaker(systemClock),
  }),
  clock: systemClock,
  random: () => 0.5,
  readHeaders: () => Promise.resolve({}),
  pause: () => nextTurn(),
  stopping: new AbortController().signal,
});

const timeoutMs = 5_000;
const createTag = (path: string): ExternalSource => createSource({ tag_url: origin + path });
const createBidder = (path: string): ExternalSource =>
  createSource({ endpoint_url: origin + path });

const isWebUrl = (url: string): boolean => /^https?:\/\/[^/]/.test(url) && url.length <= 8_192;

/** Checks a response, and fetches the ads of bids that bring them with their win notices. Returns the last response. */
async function checkResponse(response: SourceResponse): Promise<SourceResponse> {
  const { deferred, offer, verdict, notices, onWin, onLoss } = response;
  // The server always responds, so a timeout means that the service is hanging.
  expect(verdict).not.toBe('timeout');
  expect(verdict === 'offer').toBe((offer ?? deferred) !== undefined);
  expect(
    [...notices, ...onWin, ...onLoss(lossReasons.outbid)].every(({ url }) => isWebUrl(url)),
  ).toBe(true);
  if (deferred) return checkResponse(await deferred.fetch(timeoutMs));
  if (!offer) return response;
  expect(JSON.parse(JSON.stringify(offer))).toEqual(offer);
  expect(Number.isSafeInteger(offer.priceMicros)).toBe(true);
  expect(offer.priceMicros).toBeGreaterThanOrEqual(1_000_000);
  const { media, trackers } = offer;
  const urls = [
    media.url,
    ...Object.values(trackers.byEvent).flat(),
    ...trackers.progress.map(({ url }) => url),
    ...(trackers.burl === undefined ? [] : [trackers.burl]),
  ];
  expect(urls.every(isWebUrl)).toBe(true);
  return response;
}

/** Serves the documents. In their URLs, `https://ads.example` is replaced with this server's origin. */
function serve(newDocuments: Documents): void {
  for (const [name, text] of Object.entries(newDocuments))
    documents.set(`/${name}`, text.replaceAll('https://ads.example', origin));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}
const countTimers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** Checks the property, then checks that the runs have not leaked memory, timers or connections. */
async function checkForLeaks(run: (numRuns: number) => Promise<void>): Promise<void> {
  await run(50);
  const [heapBefore, timersBefore] = [heapMb(), countTimers()];
  await run(inject('full') ? 5_000 : 300);
  expect(countTimers()).toBeLessThanOrEqual(timersBefore + 2);
  const connections = await new Promise((resolve) =>
    server.getConnections((_error, count) => resolve(count)),
  );
  expect(connections).toBeLessThan(30);
  expect(heapMb() - heapBefore).toBeLessThan(30);
}

test('mutated VAST documents do not crash, hang or leak', async () => {
  let offers = 0;
  await checkForLeaks((numRuns) =>
    fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
        serve(edits.reduce(applyEdit, chain));
        const response = await requestOffer(createTag('/start'), offerRequest, timeoutMs);
        if ((await checkResponse(response)).offer) offers += 1;
      }),
      { numRuns },
    ),
  );
  // Most mutations break the document, but some must still result in an offer.
  expect(offers).toBeGreaterThan(30);
}, 600_000);

const bids = JSON.stringify({
  id: 'REQUEST_ID',
  cur: 'USD',
  seatbid: [
    {
      seat: 's1',
      bid: [
        {
          id: 'b1',
          impid: '1',
          price: 3.5,
          adomain: ['shop.example'],
          crid: 'c1',
          mtype: 2,
          cat: ['IAB1'],
          exp: 300,
          adm: vast(inline()),
          nurl: 'https://ads.example/win?p=${AUCTION_PRICE}',
          burl: 'https://ads.example/bill?p=${AUCTION_PRICE}',
          lurl: 'https://ads.example/loss?r=${AUCTION_LOSS}',
        },
        {
          id: 'b2',
          impid: '1',
          price: 2,
          adomain: ['b.example'],
          crid: 'c2',
          nurl: 'https://ads.example/b',
        },
      ],
    },
  ],
});
// prettier-ignore
const bidFragments = [
  '{', '}', '[', ']', ',', ':', '"', '\\', '\\u0000', '\\ud800', 'null', 'NaN', '1e309', '-1', '"price":1e9', '"id":', '{}',
  '${AUCTION_PRICE}', '${AUCTION_PRICE:B64}', '__proto__', '"adm":"<VAST/>"', '[['.repeat(500), '{},'.repeat(2_000),
];

test('mutated bid responses do not crash, hang or leak', async () => {
  const bidEdit = fc
    .tuple(edit, fc.constantFrom(...bidFragments, ...fragments))
    .map(([one, piece]) => ({ ...one, document: 'bid', piece }));
  let offers = 0;
  await checkForLeaks((numRuns) =>
    fc.assert(
      fc.asyncProperty(fc.array(bidEdit, { minLength: 1, maxLength: 3 }), async (edits) => {
        serve({ ...chain, ...edits.reduce(applyEdit, { bid: bids }) });
        const response = await requestOffer(createBidder('/bid'), offerRequest, timeoutMs);
        if ((await checkResponse(response)).offer) offers += 1;
      }),
      { numRuns },
    ),
  );
  expect(offers).toBeGreaterThan(10);
}, 600_000);

test('slow responses and responses that are costly to parse do not delay offers from other sources', async () => {
  const { elements, bidders } = {
    elements: `<VAST>${'<a b=""/>'.repeat(28_000)}</VAST>`,
    bidders: `{"id":"REQUEST_ID","seatbid":[${'{},'.repeat(85_000)}{}]}`,
  };
  serve({ elements, bidders, good: vast(inline()) });
  documents.set('/hanging', undefined);
  let settled = 0;
  const count = (response: SourceResponse): SourceResponse => {
    settled += 1;
    return response;
  };
  const costlyRequests = Array.from({ length: 20 }, () => [
    requestOffer(createTag('/hanging'), offerRequest, 20_000).then(count),
    requestOffer(createTag('/elements'), offerRequest, 20_000).then(count),
    requestOffer(createBidder('/bidders'), offerRequest, 20_000).then(count),
  ]).flat();
  const healthyRequests = Array.from({ length: 10 }, () =>
    requestOffer(createTag('/good'), offerRequest, 20_000),
  );
  const verdictsOf = (responses: SourceResponse[]) => responses.map(({ verdict }) => verdict);
  expect(new Set(verdictsOf(await Promise.all(healthyRequests)))).toEqual(new Set(['offer']));
  // None of the twenty that hang has timed out yet.
  expect(settled).toBeLessThanOrEqual(40);
  server.closeAllConnections();
  const verdicts = verdictsOf(await Promise.all(costlyRequests));
  expect(verdicts.filter((verdict) => verdict === 'offer')).toEqual([]);
});
