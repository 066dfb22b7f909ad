import type { BrowserContext, Page } from 'playwright';
import { expect } from 'vitest';
import { type OutboxLab, startLab, waitFor } from './outbox-lab.ts';
import { it as test } from '../worker.ts';
import { openRawBrowser } from './raw-browser.ts';

let lab: OutboxLab;
let context: BrowserContext;

test.beforeAll(async ({ browser }) => {
  lab = await startLab(browser);
});
test.afterAll(() => lab.close());
test.beforeEach(async () => {
  context = await lab.newContext();
});
test.afterEach(async () => {
  await context.close();
  lab.receiver.forget();
});

const make = (page: Page, count: number) => page.evaluate((many) => window.game.make(many), count);
const diagnostics = (page: Page) => page.evaluate(() => window.game.diagnostics());
/** A tab that sends, and one that does not. */
const openTwo = async (): Promise<[leader: Page, other: Page]> => {
  const leader = await lab.open(context);
  await make(leader, 1);
  await lab.expectAllArrived(leader);
  return [leader, await lab.open(context)];
};

test('ten tabs send each event once, and all count the same', async () => {
  const tabs: Page[] = [];
  for (let tab = 0; tab < 10; tab++) tabs.push(await lab.open(context));
  await Promise.all(tabs.map((tab) => make(tab, 20)));
  for (const tab of tabs) await lab.expectAllArrived(tab);
  expect([...lab.receiver.arrivals.values()]).toEqual(Array.from({ length: 200 }, () => 1));
  const all = await Promise.all(tabs.map(diagnostics));
  expect(all.reduce((sum, { sent }) => sum + sent, 0)).toBe(200);
});

test('when the leading tab is frozen another one sends, and it takes part again afterwards', async () => {
  const browser = openRawBrowser(lab.profile('frozen'));
  try {
    const leader = await browser.openTab(lab.receiver.url);
    const arrived = (count: number) =>
      waitFor(() => expect(lab.receiver.arrivals.size).toBe(count));
    await waitFor(async () => expect(await leader.evaluate('!!window.game')).toBe(true));
    await leader.evaluate('window.game.make(1)');
    await arrived(1);
    const other = await browser.openTab(lab.receiver.url);
    await waitFor(async () => expect(await other.evaluate('!!window.game')).toBe(true));
    // Only a hidden page is ever frozen.
    await other.activate();
    await waitFor(async () => expect(await leader.evaluate('document.hidden')).toBe(true));
    await leader.setLifecycle('frozen');
    await other.evaluate('window.game.make(10)');
    await arrived(11);
    await waitFor(async () =>
      expect(await other.evaluate('window.game.diagnostics()')).toMatchObject({
        stored: 0,
        sent: 10,
      }),
    );
    await leader.setLifecycle('active');
    await leader.activate();
    await leader.evaluate('window.game.make(5)');
    await arrived(16);
    expect(await leader.evaluate('window.game.diagnostics()')).toMatchObject({ sent: 1 });
    expect(Math.max(...lab.receiver.arrivals.values())).toBe(1);
  } finally {
    await browser.kill();
  }
});

test('when the leading tab dies in the middle of a request another one sends its events', async () => {
  const [leader, other] = await openTwo();
  lab.receiver.fault = () => undefined;
  await make(leader, 10);
  await waitFor(() => expect(lab.receiver.requests).toHaveLength(2));
  lab.receiver.fault = undefined;
  const devtools = await context.newCDPSession(leader);
  // It never answers: the tab that should is gone.
  devtools.send('Page.crash').catch(() => undefined);
  await make(other, 10);
  await lab.expectAllArrived(other);
  expect(lab.receiver.arrivals.size).toBe(21);
});

test('makes way for a newer release in another tab, and goes on in memory', async () => {
  const [leader, other] = await openTwo();
  const opened = await other.evaluate(
    () =>
      new Promise((resolve) => {
        const request = indexedDB.open('outbox-test', 2);
        request.onblocked = () => resolve('blocked');
        request.onsuccess = () => resolve('opened');
      }),
  );
  expect(opened).toBe('opened');
  await make(leader, 10);
  await waitFor(() => expect(lab.receiver.arrivals.size).toBe(11));
  await waitFor(async () =>
    expect(await diagnostics(leader)).toMatchObject({ storage: 'memory', stored: 0, sent: 11 }),
  );
  // It must not hold the lock that the newer release waits for.
  const held = await leader.evaluate(async () => (await navigator.locks.query()).held?.length);
  expect(held).toBe(0);
});

test('a page that comes back from the back/forward cache goes on', async () => {
  const page = await lab.open(context);
  await make(page, 5);
  await lab.expectAllArrived(page);
  lab.receiver.fault = ({ request }) => request.socket.destroy();
  await make(page, 5);
  await page.evaluate(() => {
    window.addEventListener('pageshow', ({ persisted }) => {
      document.title = persisted ? 'from the cache' : 'loaded anew';
    });
  });
  await page.goto('about:blank');
  lab.receiver.fault = undefined;
  // A page from the cache has no second `load`.
  await page.goBack({ waitUntil: 'commit' });
  await waitFor(async () => expect(await page.title()).toBe('from the cache'));
  await make(page, 5);
  await lab.expectAllArrived(page);
  expect(lab.receiver.arrivals.size).toBe(15);
  expect(await diagnostics(page)).toMatchObject({ storage: 'indexeddb', stored: 0 });
});

test('a page that is closed in the middle of things leaves nothing behind that another loses', async () => {
  const page = await lab.open(context);
  // Stored, not sent: the page is gone before its turn comes.
  lab.receiver.fault = ({ request }) => request.socket.destroy();
  await make(page, 50);
  await page.close({ runBeforeUnload: false });
  lab.receiver.fault = undefined;
  const next = await lab.open(context);
  await lab.expectAllArrived(next);
  expect(lab.receiver.arrivals.size).toBe(50);
});
