import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright';
import type { Outcome } from 'trueward';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, resultOf, show } from './browser.ts';
import { type Stack, startStack } from './stack.ts';

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': '*',
};
/** Answers preflights as any server would, and the rest by `answer`. */
const behind =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method === 'OPTIONS') response.writeHead(204, cors).end();
    else answer(request, response);
  };

/** Services that do not answer as they should, and the outcomes that a game may get for it. */
const services: [name: string, answer: RequestListener, outcomes: Outcome[]][] = [
  [
    'HTML with status 200',
    (_, response) =>
      response.writeHead(200, { ...cors, 'content-type': 'text/html' }).end('<p>Log in'),
    ['offline'],
  ],
  [
    'JSON of another kind',
    (_, response) =>
      response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end('{"ok":1}'),
    ['offline'],
  ],
  ['status 500', (_, response) => response.writeHead(500, cors).end(), ['error']],
  [
    'status 503',
    (_, response) => response.writeHead(503, { ...cors, 'retry-after': '60' }).end(),
    ['error'],
  ],
  ['a broken connection', (request) => request.socket.destroy(), ['offline']],
  [
    'as if a filter list stood before its decisions',
    (request, response) => {
      if (request.url === '/healthz') response.end();
      else request.socket.destroy();
    },
    ['ad_blocked'],
  ],
  ['nothing', () => undefined, ['timeout']],
];

describe('a game whose service misbehaves', () => {
  let stack: Stack;
  let browser: BrowserContext;
  let page: Page;
  let answer: RequestListener;
  const service = createServer((request, response) => behind(answer)(request, response));

  beforeAll(async () => {
    stack = await startStack();
    browser = await openBrowser();
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    service.close();
    service.closeAllConnections();
    await browser?.close();
    await stack?.stop();
  });

  const open = async (serviceUrl: string): Promise<void> => {
    const address = new URL(stack.pageFor('somebody'));
    address.searchParams.set('service', serviceUrl);
    page = await browser.newPage();
    await page.goto(address.href);
  };
  const canvasIsOnTop = (): Promise<boolean> =>
    page.evaluate(() => document.elementFromPoint(20, 20)?.id === 'game');

  it.each(services)('goes on when it answers %s', async (_, misbehaviour, outcomes) => {
    answer = misbehaviour;
    await open(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
    await show(page, 'showRewarded', 'revive');
    const result = await resultOf(page);
    expect(outcomes).toContain(result?.outcome);
    expect(result?.reason).toEqual(expect.any(String));
    expect(await canvasIsOnTop()).toBe(true);
    await page.close();
  });

  it('is told that a placement does not exist', async () => {
    await open(stack.serviceUrl);
    await show(page, 'showRewarded', 'no-such-place');
    expect(await resultOf(page)).toMatchObject({ outcome: 'invalid_placement' });
    await page.close();
  });

  it('is told that a placement has another format', async () => {
    await open(stack.serviceUrl);
    await show(page, 'showRewarded', 'level-end');
    expect(await resultOf(page)).toMatchObject({ outcome: 'invalid_placement' });
    expect(await canvasIsOnTop()).toBe(true);
    await page.close();
  });

  it('gets every simulated outcome of the sandbox', async () => {
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
