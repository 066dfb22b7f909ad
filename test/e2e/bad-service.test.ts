import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright';
import type { Outcome } from 'trueward';
import { describe, expect } from 'vitest';
import { getResult, show } from './browser.ts';
import { speedUp } from './speed-up.ts';
import type { Stack } from './stack.ts';
import { it } from './worker.ts';

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': '*',
};
/** Responds to CORS preflights normally, and passes all other requests to `respond`. */
const withCors =
  (respond: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method === 'OPTIONS') response.writeHead(204, cors).end();
    else respond(request, response);
  };

/** Faulty responses, each with the outcomes that it may cause. */
const faultyResponses: [name: string, respond: RequestListener, outcomes: Outcome[]][] = [
  [
    'a 200 response with HTML',
    (_, response) =>
      response.writeHead(200, { ...cors, 'content-type': 'text/html' }).end('<p>Log in'),
    ['offline'],
  ],
  [
    'a 200 response with unexpected JSON',
    (_, response) =>
      response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end('{"ok":1}'),
    ['offline'],
  ],
  ['a 500 response', (_, response) => response.writeHead(500, cors).end(), ['error']],
  [
    'a 503 response',
    (_, response) => response.writeHead(503, { ...cors, 'retry-after': '60' }).end(),
    ['error'],
  ],
  ['a broken connection', (request) => request.socket.destroy(), ['offline']],
  [
    'an ad request that an ad blocker blocks',
    (request, response) => {
      if (request.url?.startsWith('/healthz')) response.writeHead(200, cors).end('{"status":"ok"}');
      else request.socket.destroy();
    },
    ['ad_blocked'],
  ],
  [
    'a web server that is not the service',
    (request, response) => {
      if (request.url?.startsWith('/healthz')) response.end('<p>It works!');
      else request.socket.destroy();
    },
    ['offline'],
  ],
  ['a request timeout', () => undefined, ['timeout']],
];

describe('a game with a faulty service', () => {
  let stack: Stack;
  let browser: BrowserContext;
  let page: Page;
  let respond: RequestListener;
  const service = createServer((request, response) => withCors(respond)(request, response));

  it.beforeAll(async ({ browser: sharedBrowser, stack: sharedStack }) => {
    stack = sharedStack;
    browser = await sharedBrowser.newContext();
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  });
  it.afterAll(async () => {
    service.close();
    service.closeAllConnections();
    await browser?.close();
  });

  /** Opens the page. Time in the page passes `speed` times as fast as real time. */
  const open = async (serviceUrl: string, speed = 1): Promise<void> => {
    const pageUrl = new URL(stack.pageFor('somebody'));
    pageUrl.searchParams.set('service', serviceUrl);
    page = await browser.newPage();
    if (speed !== 1) await speedUp(page, speed);
    await page.goto(pageUrl.href);
  };
  const isCanvasOnTop = (): Promise<boolean> =>
    page.evaluate(() => document.elementFromPoint(20, 20)?.id === 'game');

  it.each(faultyResponses)('continues after %s', async (_, faultyRespond, outcomes) => {
    respond = faultyRespond;
    // If the service never responds, the load timeout takes eight seconds of page time.
    const speed = outcomes.includes('timeout') ? 8 : 1;
    await open(`http://127.0.0.1:${(service.address() as AddressInfo).port}`, speed);
    await show(page, 'showRewarded', 'revive');
    const result = await getResult(page);
    expect(outcomes).toContain(result?.outcome);
    expect(result?.reason).toEqual(expect.any(String));
    expect(await isCanvasOnTop()).toBe(true);
    await page.close();
  });

  it('receives invalid_placement for a placement that does not exist', async () => {
    await open(stack.serviceUrl);
    await show(page, 'showRewarded', 'no-such-place');
    expect(await getResult(page)).toMatchObject({ outcome: 'invalid_placement' });
    await page.close();
  });

  it('receives invalid_placement for a placement with a different format', async () => {
    await open(stack.serviceUrl);
    await show(page, 'showRewarded', 'level-end');
    expect(await getResult(page)).toMatchObject({ outcome: 'invalid_placement' });
    expect(await isCanvasOnTop()).toBe(true);
    await page.close();
  });

  it('receives every outcome that the sandbox simulates', async () => {
    await open(stack.serviceUrl);
    const outcomes = await page.evaluate(async () => {
      const results: Record<string, string> = {};
      for (const simulation of ['no_fill', 'blocked', 'killed', 'error'] as const) {
        window.ads.simulate(simulation);
        results[simulation] = (await window.ads.showRewarded('revive')).outcome;
        window.ads.simulate();
      }
      return results;
    });
    expect(outcomes).toEqual({
      no_fill: 'no_fill',
      blocked: 'blocked',
      killed: 'killed',
      error: 'error',
    });
    await page.close();
  });
});
