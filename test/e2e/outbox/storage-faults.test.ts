import type { BrowserContext, CDPSession, Page } from 'playwright';
import { expect } from 'vitest';
import { type OutboxHarness, startHarness, waitFor } from './outbox-harness.ts';
import { it as test } from '../worker.ts';

let harness: OutboxHarness;
let context: BrowserContext;
let page: Page;
let devtools: CDPSession;

test.beforeAll(async ({ browser }) => {
  harness = await startHarness(browser);
});
test.afterAll(() => harness.close());
test.beforeEach(async () => {
  context = await harness.newContext();
  page = await harness.open(context);
  devtools = await context.newCDPSession(page);
});
test.afterEach(async () => {
  await context.close();
  harness.receiver.reset();
});

const diagnostics = () => page.evaluate(() => window.game.diagnostics());
const enqueueEvents = (count: number) =>
  page.evaluate((eventCount) => window.game.enqueueEvents(eventCount), count);

test('evicts and counts the least valuable events when the quota is exhausted', async () => {
  harness.receiver.fault = ({ request }) => request.socket.destroy();
  const { usage } = await devtools.send('Storage.getUsageAndQuota', {
    origin: harness.receiver.url,
  });
  await devtools.send('Storage.overrideQuotaForOrigin', {
    origin: harness.receiver.url,
    quotaSize: usage + 300_000,
  });
  await page.evaluate(async () => {
    await window.game.enqueueEvents(20, 'complete');
    // The values are random, because the browser would compress repetitive values.
    const noise = () => crypto.getRandomValues(new Uint8Array(80)).join('').slice(0, 200);
    for (let burst = 0; burst < 40; burst++)
      await Promise.all(
        Array.from({ length: 50 }, () => window.game.enqueueEvents(1, 'midpoint', noise())),
      );
    await window.game.enqueueEvents(20, 'complete');
  });
  const eventCount = 2_040;
  const { stored, dropped, storage } = await diagnostics();
  expect(dropped.too_many ?? 0).toBeGreaterThan(0);
  expect(stored + (dropped.too_many ?? 0)).toBe(eventCount);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: harness.receiver.url });
  harness.receiver.fault = undefined;
  await waitFor(async () => expect((await diagnostics()).stored).toBe(0));
  const completions = harness.receiver.requests.flatMap(({ batch }) =>
    batch.events.filter(({ type }) => type === 'complete').map(({ id }) => id),
  );
  expect(new Set(completions).size).toBe(40);
  expect(harness.receiver.arrivals.size).toBe(stored);
  expect(harness.receiver.requests.some(({ batch }) => batch.dropped?.['too_many'])).toBe(true);
  expect(['indexeddb', 'memory']).toContain(storage);
  // Now that there is room again, events are stored in the database.
  await enqueueEvents(1);
  expect((await diagnostics()).storage).toBe('indexeddb');
});

test('recovers if the database is deleted while it is open', async () => {
  harness.receiver.fault = ({ request }) => request.socket.destroy();
  await enqueueEvents(10);
  await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('outbox-test');
        request.onsuccess = resolve;
        request.onerror = reject;
      }),
  );
  harness.receiver.fault = undefined;
  await enqueueEvents(10);
  await waitFor(() => expect(harness.receiver.arrivals.size).toBeGreaterThanOrEqual(10));
  await waitFor(async () =>
    expect(await diagnostics()).toMatchObject({ storage: 'indexeddb', stored: 0 }),
  );
});

test('recovers when the player clears the site data', async () => {
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  await devtools.send('Storage.clearDataForOrigin', {
    origin: harness.receiver.url,
    storageTypes: 'all',
  });
  await enqueueEvents(10);
  await harness.expectAllArrived(page);
  // Compares events by id, because a page from the previous test may still be sending its last request.
  const storedIds = await page.evaluate(() => window.game.resolved);
  expect(storedIds.map((id) => harness.receiver.arrivals.get(id))).toEqual(
    Array.from(storedIds, () => 1),
  );
  expect(storedIds).toHaveLength(20);
});
