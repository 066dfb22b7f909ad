import type { BrowserContext, Page } from 'playwright';
import { expect } from 'vitest';
import { rowsForRun } from '../../support/quick-run.ts';
import type { PageOptions } from './page.ts';
import { type OutboxHarness, startHarness, waitFor } from './outbox-harness.ts';
import { it as test } from '../worker.ts';
import type { Exchange } from './receiver.ts';

let harness: OutboxHarness;
let context: BrowserContext;
let page: Page;

test.beforeAll(async ({ browser }) => {
  harness = await startHarness(browser);
});
test.afterAll(() => harness.close());
test.beforeEach(async () => {
  context = await harness.newContext();
  page = await harness.open(context);
});
test.afterEach(async () => {
  await context.close();
  harness.receiver.reset();
});

const enqueueEvents = (count: number, detail = 'good') =>
  page.evaluate(([eventCount, text]) => window.game.enqueueEvents(eventCount, 'midpoint', text), [
    count,
    detail,
  ] as const);
const diagnostics = () => page.evaluate(() => window.game.diagnostics());
const reopen = async (options: PageOptions) => {
  await page.close();
  page = await harness.open(context, options);
};
const waitForRequests = (count: number) =>
  waitFor(() => expect(harness.receiver.requests.length).toBeGreaterThanOrEqual(count));
/** Returns the number of times each event has arrived, in descending order. */
const arrivalCounts = () => [...harness.receiver.arrivals.values()].sort((a, b) => b - a);

/** Applies a fault to the first `times` requests. */
const injectFault = (times: number, fault: (exchange: Exchange) => void) => {
  harness.receiver.fault = (exchange) => {
    if (harness.receiver.requests.length >= times) harness.receiver.fault = undefined;
    fault(exchange);
  };
};

test('an empty outbox sets no timers, sends no requests and starts no transactions', async () => {
  await enqueueEvents(5);
  await harness.expectAllArrived(page);
  await page.evaluate(() => window.game.flush());
  const transactionCount = await page.evaluate(async () => {
    let transactions = 0;
    const begin = IDBDatabase.prototype.transaction;
    IDBDatabase.prototype.transaction = function (...parameters) {
      transactions++;
      return begin.apply(this, parameters);
    };
    for (let frame = 0; frame < 60; frame++)
      await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    return transactions;
  });
  expect(transactionCount).toBe(0);
  expect(harness.receiver.requests).toHaveLength(1);
  expect(await page.evaluate(() => window.game.timers())).toBe(0);
  expect(await diagnostics()).toMatchObject({ storage: 'indexeddb', stored: 0, sent: 5 });
});

test('events are sent again after a lost response, and counted once', async () => {
  injectFault(1, ({ accept, request }) => {
    accept();
    request.socket.destroy();
  });
  await enqueueEvents(30);
  await harness.expectAllArrived(page);
  expect(arrivalCounts()).toEqual(Array.from({ length: 30 }, () => 2));
  expect(await diagnostics()).toMatchObject({ sent: 30, dropped: {}, rejected: {} });
});

test('a request on a half-closed connection is retried', async () => {
  injectFault(2, ({ request }) => request.socket.end());
  await enqueueEvents(30);
  await harness.expectAllArrived(page);
  expect(arrivalCounts()).toEqual(Array.from({ length: 30 }, () => 1));
});

test('a request is retried if its response was truncated', async () => {
  injectFault(1, ({ accept, response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9999' });
    response.write(JSON.stringify(accept()).slice(0, 50), () => response.destroy());
  });
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  expect(await diagnostics()).toMatchObject({ sent: 10 });
});

test('a request to a server that never responds times out', async () => {
  await reopen({ requestTimeoutMs: 1_000 });
  injectFault(1, () => undefined);
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  expect(await diagnostics()).toMatchObject({ sent: 10, lastError: 'timeout' });
});

test.each(rowsForRun([429, 503], 2))('honors Retry-After in a %d response', async (status) => {
  injectFault(1, ({ response }) => response.writeHead(status, { 'retry-after': '10' }).end());
  await enqueueEvents(10);
  await waitForRequests(1);
  await enqueueEvents(10);
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await page.evaluate(() => window.game.flush());
  await harness.expectAllArrived(page);
  const [firstAtMs, secondAtMs] = harness.receiver.requests.map(({ atMs }) => atMs);
  // In page time, this is ten seconds, because the page's timers run 20 times as fast as real time.
  expect((secondAtMs ?? 0) - (firstAtMs ?? 0)).toBeGreaterThanOrEqual(500);
  expect(arrivalCounts()).toEqual(Array.from({ length: 20 }, () => 1));
});

test.each(rowsForRun([500, 429, 503], 3))(
  'a %d without Retry-After is retried with back-off',
  async (status) => {
    injectFault(4, ({ response }) => response.writeHead(status).end());
    await enqueueEvents(10);
    await harness.expectAllArrived(page);
    expect(harness.receiver.requests).toHaveLength(5);
    expect(await diagnostics()).toMatchObject({ sent: 10, lastError: `http_${status}` });
  },
);

test('an invalid event in a batch of a hundred does not block the others', async () => {
  harness.receiver.fault = ({ batch, accept, response }) => {
    const isBad = batch.events.some(({ detail }) => detail === 'bad');
    const problem = { type: '', title: '', status: 400, detail: '', code: 'malformed_json' };
    response.writeHead(isBad ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isBad ? problem : accept()));
  };
  await page.evaluate(() => {
    void window.game.enqueueEvents(63);
    void window.game.enqueueEvents(1, 'midpoint', 'bad');
    return window.game.enqueueEvents(36);
  });
  await waitFor(() => expect(harness.receiver.arrivals.size).toBe(99));
  await waitFor(async () =>
    expect(await diagnostics()).toMatchObject({
      stored: 0,
      sent: 99,
      rejected: { malformed_json: 1 },
    }),
  );
  expect(arrivalCounts()).toEqual(Array.from({ length: 99 }, () => 1));
});

test('a captive portal’s page does not count as an acknowledgment', async () => {
  injectFault(3, ({ response }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Please sign in</h1>'),
  );
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  expect(await diagnostics()).toMatchObject({ sent: 10, lastError: 'unexpected_response' });
});

test('no event is lost during a week offline with page reloads', async () => {
  const day = 86_400_000;
  for (let days = 0; days < 7; days++) {
    await reopen({ clockOffsetMs: days * day });
    await context.setOffline(true);
    await enqueueEvents(20);
    await context.setOffline(false);
    harness.receiver.fault = ({ request }) => request.socket.destroy();
  }
  harness.receiver.fault = undefined;
  // The device's clock may be ahead by any amount.
  await reopen({ clockOffsetMs: 400 * day });
  await harness.expectAllArrived(page);
  expect(harness.receiver.arrivals.size).toBe(140);
  expect(await diagnostics()).toMatchObject({ dropped: {}, rejected: {} });
});

test('setting the clock back by a day neither loses nor delays an event', async () => {
  injectFault(2, ({ response }) => response.writeHead(503).end());
  await enqueueEvents(10);
  await page.evaluate(() => window.game.shiftClock(-86_400_000));
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  const sentAt = harness.receiver.requests.map(({ batch }) => Date.parse(batch.sent_at));
  expect(Date.now() - (sentAt.at(-1) ?? 0)).toBeGreaterThan(86_000_000);
  expect(harness.receiver.arrivals.size).toBe(20);
});

test('sends valid events if a library adds toJSON() to arrays and objects', async () => {
  await page.evaluate(() => {
    for (const prototype of [Array.prototype, Object.prototype])
      Object.defineProperty(prototype, 'toJSON', { value: () => 'spoiled', configurable: true });
    const events = window.game.enqueueEvents(10);
    return events.finally(() => {
      for (const prototype of [Array.prototype, Object.prototype])
        Reflect.deleteProperty(prototype, 'toJSON');
    });
  });
  await waitFor(() => expect(harness.receiver.resolved.size).toBe(10));
  await harness.expectAllArrived(page);
  expect(harness.receiver.requests[0]?.batch.events[0]).toMatchObject({ type: 'midpoint' });
});

test('a browser that wrongly reports being offline sends its events', async () => {
  await page.addInitScript(() =>
    Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false }),
  );
  await page.reload();
  expect(await page.evaluate(() => navigator.onLine)).toBe(false);
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
});
