import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { launchChromium } from '../browser.ts';
import { type OutboxHarness, startHarness, waitFor } from './outbox-harness.ts';
import { openRawBrowser, type RawTab } from './raw-browser.ts';

let harness: OutboxHarness;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launchChromium();
  harness = await startHarness(browser);
});
afterAll(async () => {
  await browser.close();
  await harness.close();
});
beforeEach(async () => {
  context = await harness.newContext();
});
afterEach(async () => {
  await context.close();
  harness.receiver.reset();
});

const enqueueEvents = (page: Page, count: number) =>
  page.evaluate((eventCount) => window.game.enqueueEvents(eventCount), count);
const diagnostics = (page: Page) => page.evaluate(() => window.game.diagnostics());
/** Opens two tabs. The first tab is the leader. */
const openTwoTabs = async (): Promise<[leader: Page, other: Page]> => {
  const leader = await harness.open(context);
  await enqueueEvents(leader, 1);
  await harness.expectAllArrived(leader);
  return [leader, await harness.open(context)];
};

test('ten tabs send each event once and agree on the counts', async () => {
  const tabs: Page[] = [];
  // In a page whose time runs faster, another tab would take over what a busy tab is sending.
  for (let tab = 0; tab < 10; tab++) tabs.push(await harness.open(context, { speed: 1 }));
  await Promise.all(tabs.map((tab) => enqueueEvents(tab, 20)));
  for (const tab of tabs) await harness.expectAllArrived(tab);
  expect([...harness.receiver.arrivals.values()]).toEqual(Array.from({ length: 200 }, () => 1));
  const allDiagnostics = await Promise.all(tabs.map(diagnostics));
  expect(allDiagnostics.reduce((sum, { sent }) => sum + sent, 0)).toBe(200);
});

test.runIf(inject('full'))('another tab sends while the leader is frozen', async () => {
  const browser = openRawBrowser(harness.profile('frozen'));
  try {
    const leader = await browser.openTab(harness.receiver.url);
    const waitForArrivals = (count: number) =>
      waitFor(() => expect(harness.receiver.arrivals.size).toBe(count));
    await waitFor(async () => expect(await leader.evaluate('!!window.game')).toBe(true));
    await leader.evaluate('window.game.enqueueEvents(1)');
    await waitForArrivals(1);
    const otherTab = await browser.openTab(harness.receiver.url);
    await waitFor(async () => expect(await otherTab.evaluate('!!window.game')).toBe(true));
    // Browsers freeze only hidden pages.
    await otherTab.activate();
    await waitFor(async () => expect(await leader.evaluate('document.hidden')).toBe(true));
    await leader.setLifecycle('frozen');
    await otherTab.evaluate('window.game.enqueueEvents(10)');
    await waitForArrivals(11);
    await waitFor(async () =>
      expect(await otherTab.evaluate('window.game.diagnostics()')).toMatchObject({
        stored: 0,
        sent: 10,
      }),
    );
    await leader.setLifecycle('active');
    await leader.activate();
    await leader.evaluate('window.game.enqueueEvents(5)');
    await waitForArrivals(16);
    await waitFor(async () =>
      expect(
        Number(await leader.evaluate('window.game.diagnostics().sent')) +
          Number(await otherTab.evaluate('window.game.diagnostics().sent')),
      ).toBe(16),
    );
    expect(Math.max(...harness.receiver.arrivals.values())).toBe(1);
  } finally {
    await browser.kill();
  }
});

test('a tab that is suspended without a lifecycle event does not block a visible tab', async () => {
  const browser = openRawBrowser(harness.profile('suspended'));
  const inPage = (tab: RawTab) => (expression: string) => tab.evaluate(`window.game.${expression}`);
  const waitForArrivals = (count: number) =>
    waitFor(() => expect(harness.receiver.arrivals.size).toBe(count));
  try {
    const suspendedTab = await browser.openTab(harness.receiver.url);
    await waitFor(async () => expect(await suspendedTab.evaluate('!!window.game')).toBe(true));
    // Only Chromium fires an event before it freezes a page.
    await suspendedTab.evaluate(
      `window.addEventListener('freeze', (event) => event.stopImmediatePropagation(), true)`,
    );
    await inPage(suspendedTab)('enqueueEvents(1)');
    await waitForArrivals(1);
    const visibleTab = await browser.openTab(harness.receiver.url);
    await waitFor(async () => expect(await visibleTab.evaluate('!!window.game')).toBe(true));
    await visibleTab.activate();
    await waitFor(async () => expect(await suspendedTab.evaluate('document.hidden')).toBe(true));
    await suspendedTab.setLifecycle('frozen');
    await inPage(visibleTab)('enqueueEvents(10)');
    await waitForArrivals(11);
    // The rest takes as long as a tab waits for a lock.
    if (!inject('full')) return;

    // This time, the tab is suspended while a request is in flight, so it still holds the lock.
    await suspendedTab.setLifecycle('active');
    await suspendedTab.activate();
    harness.receiver.fault = () => undefined;
    const before = harness.receiver.requests.length;
    await inPage(suspendedTab)('enqueueEvents(1)');
    await waitFor(() => expect(harness.receiver.requests.length).toBe(before + 1));
    await suspendedTab.evaluate(
      `window.addEventListener('visibilitychange', (event) => event.stopImmediatePropagation(), true)`,
    );
    await visibleTab.activate();
    await suspendedTab.setLifecycle('frozen');
    harness.receiver.fault = undefined;
    await inPage(visibleTab)('enqueueEvents(10)');
    await waitForArrivals(22);
  } finally {
    await browser.kill();
  }
});

test('another tab sends the leader’s events if the leader dies during a request', async () => {
  const [leader, otherTab] = await openTwoTabs();
  harness.receiver.fault = () => undefined;
  await enqueueEvents(leader, 10);
  await waitFor(() => expect(harness.receiver.requests).toHaveLength(2));
  harness.receiver.fault = undefined;
  const devtools = await context.newCDPSession(leader);
  // Doesn't wait for this call, because it never resolves once the tab has crashed.
  devtools.send('Page.crash').catch(() => undefined);
  await enqueueEvents(otherTab, 10);
  await harness.expectAllArrived(otherTab);
  expect(harness.receiver.arrivals.size).toBe(21);
});

// In a quick run, a browser test shows that events stay in memory then.
test.runIf(inject('full'))(
  'closes the database to let a newer release in another tab upgrade it',
  async () => {
    const [leader, otherTab] = await openTwoTabs();
    const outcome = await otherTab.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.open('outbox-test', 2);
          request.onblocked = () => resolve('blocked');
          request.onsuccess = () => resolve('opened');
        }),
    );
    expect(outcome).toBe('opened');
    await enqueueEvents(leader, 10);
    await waitFor(() => expect(harness.receiver.arrivals.size).toBe(11));
    await waitFor(async () =>
      expect(await diagnostics(leader)).toMatchObject({ storage: 'memory', stored: 0, sent: 11 }),
    );
    // The leader must release the lock, because a tab with the newer SDK version would be waiting for it. The leader no
    // longer needs the lock, because its store is closed.
    await waitFor(async () =>
      expect(await leader.evaluate(async () => (await navigator.locks.query()).held)).toEqual([]),
    );
  },
);

test('a page restored from the back/forward cache resumes sending', async () => {
  const page = await harness.open(context);
  await enqueueEvents(page, 5);
  await harness.expectAllArrived(page);
  harness.receiver.fault = ({ request }) => request.socket.destroy();
  await enqueueEvents(page, 5);
  await page.evaluate(() => {
    window.addEventListener('pageshow', ({ persisted }) => {
      document.title = persisted ? 'from the cache' : 'reloaded';
    });
  });
  await page.goto('about:blank');
  harness.receiver.fault = undefined;
  // A page restored from the cache doesn't fire a second `load` event.
  await page.goBack({ waitUntil: 'commit' });
  await waitFor(async () => expect(await page.title()).toBe('from the cache'));
  await enqueueEvents(page, 5);
  await harness.expectAllArrived(page);
  expect(harness.receiver.arrivals.size).toBe(15);
  expect(await diagnostics(page)).toMatchObject({ storage: 'indexeddb', stored: 0 });
});

test('no event is lost if a page is closed while it is sending', async () => {
  const page = await harness.open(context);
  // The page is closed before it becomes the leader, so the events are stored but not sent.
  harness.receiver.fault = ({ request }) => request.socket.destroy();
  await enqueueEvents(page, 50);
  await page.close({ runBeforeUnload: false });
  harness.receiver.fault = undefined;
  const nextPage = await harness.open(context);
  await harness.expectAllArrived(nextPage);
  expect(harness.receiver.arrivals.size).toBe(50);
});
