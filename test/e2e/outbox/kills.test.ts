import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { KillableBrowser } from './killable-browser.ts';
import { type OutboxHarness, startHarness, waitFor } from './outbox-harness.ts';
import { it as test } from '../worker.ts';
import type { PageOptions, Step } from './page.ts';

let harness: OutboxHarness;
let killableBrowser: KillableBrowser;
let profile = 0;

test.beforeAll(async ({ browser }) => {
  harness = await startHarness(browser);
});
test.afterAll(() => harness.close());
test.afterEach(async () => {
  profile += 1;
  await killableBrowser.kill();
  harness.receiver.reset();
});

/** Starts a browser with the same profile as the previous browser in this test. */
const start = async (options: PageOptions = {}): Promise<Page> => {
  killableBrowser = await harness.openBrowser(`profile-${profile}`);
  const [context] = killableBrowser.browser.contexts();
  if (!context) throw new Error('The browser has no context.');
  return harness.open(context, options);
};
const enqueueAndStore = async (page: Page, count: number) => {
  await page.evaluate((eventCount) => window.game.enqueueEvents(eventCount), count);
  expect(await page.evaluate(() => window.game.diagnostics().storage)).toBe('indexeddb');
  await waitFor(() => expect(harness.receiver.resolved.size).toBe(count));
};

const isFullRun = inject('full');
/** The steps at which the browser is killed. Each step's test starts three browsers. */
const steps: Step[] = isFullRun
  ? [
      'before the write',
      'after the write',
      'before the request',
      'after the response',
      'before the removal',
      'after the removal',
    ]
  : ['after the write'];

test.each(steps)('no stored event is lost if the browser is killed %s', async (step) => {
  const { receiver } = harness;
  receiver.fault = ({ request }) => request.socket.destroy();
  await enqueueAndStore(await start(), 20);
  await killableBrowser.kill();
  receiver.fault = undefined;

  const pageStopped = receiver.waitUntilPageStops();
  const page = await start({ stopAt: step });
  // Doesn't wait for the promise, because it never resolves if the page stops first.
  await page.evaluate(() => void window.game.enqueueEvents(5));
  await pageStopped;
  await killableBrowser.kill();

  const nextPage = await start();
  await harness.expectAllArrived(nextPage);
  expect(receiver.resolved.size).toBeGreaterThanOrEqual(20);
  // Events that were not written may be lost. All written events must arrive, even if their promise did not resolve.
  if (step === 'after the write') await waitFor(() => expect(receiver.arrivals.size).toBe(25));
  // An event may arrive once before the browser is killed, and once afterwards.
  expect(Math.max(...receiver.arrivals.values())).toBeLessThanOrEqual(2);
});

test.runIf(isFullRun)(
  'no stored event is lost if the browser is killed during a burst of events',
  async () => {
    const { receiver } = harness;
    const page = await start();
    await page.evaluate(() => {
      const frame = () => {
        void window.game.enqueueEvents(10);
        requestAnimationFrame(frame);
      };
      frame();
    });
    await waitFor(() => expect(receiver.resolved.size).toBeGreaterThan(500));
    await killableBrowser.kill();
    const storedCount = receiver.resolved.size;
    await harness.expectAllArrived(await start());
    expect(receiver.arrivals.size).toBeGreaterThanOrEqual(storedCount);
  },
);
