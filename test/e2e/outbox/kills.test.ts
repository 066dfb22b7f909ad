import type { Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { KillableBrowser } from './killable-browser.ts';
import { type OutboxLab, startLab, waitFor } from './outbox-lab.ts';
import { it as test } from '../worker.ts';
import type { PageOptions, Step } from './page.ts';

let lab: OutboxLab;
let running: KillableBrowser;
let profile = 0;

test.beforeAll(async ({ browser }) => {
  lab = await startLab(browser);
});
test.afterAll(() => lab.close());
test.afterEach(async () => {
  profile += 1;
  await running.kill();
  lab.receiver.forget();
});

/** Starts a browser with the profile of the previous one. */
const start = async (options: PageOptions = {}): Promise<Page> => {
  running = await lab.openBrowser(`profile-${profile}`);
  const [context] = running.browser.contexts();
  if (!context) throw new Error('The browser has no profile.');
  return lab.open(context, options);
};
const enqueueAndStore = async (page: Page, count: number) => {
  await page.evaluate((eventCount) => window.game.enqueueEvents(eventCount), count);
  expect(await page.evaluate(() => window.game.diagnostics().storage)).toBe('indexeddb');
  await waitFor(() => expect(lab.receiver.resolved.size).toBe(count));
};

const full = inject('full');
/** The steps at which a browser is killed. The test of each step starts three browsers. */
const steps: Step[] = full
  ? [
      'before the write',
      'after the write',
      'before the request',
      'after the response',
      'before the removal',
      'after the removal',
    ]
  : ['after the write'];

test.each(steps)('a browser loses no stored event if it is killed %s', async (step) => {
  const { receiver } = lab;
  receiver.fault = ({ request }) => request.socket.destroy();
  await enqueueAndStore(await start(), 20);
  await running.kill();
  receiver.fault = undefined;

  const died = receiver.died();
  const page = await start({ dieAt: step });
  // The test does not wait for the promise, because it never resolves if the page stops first.
  await page.evaluate(() => void window.game.enqueueEvents(5));
  await died;
  await running.kill();

  const next = await start();
  await lab.expectAllArrived(next);
  expect(receiver.resolved.size).toBeGreaterThanOrEqual(20);
  // Events that were not written may be lost. All written events must exist, including those whose promise did not
  // resolve.
  if (step === 'after the write') await waitFor(() => expect(receiver.arrivals.size).toBe(25));
  // An event may arrive once before the browser is killed, and once afterwards.
  expect(Math.max(...receiver.arrivals.values())).toBeLessThanOrEqual(2);
});

test.runIf(full)(
  'a browser loses no stored event if it is killed in a burst of events',
  async () => {
    const { receiver } = lab;
    const page = await start();
    await page.evaluate(() => {
      const frame = () => {
        void window.game.enqueueEvents(10);
        requestAnimationFrame(frame);
      };
      frame();
    });
    await waitFor(() => expect(receiver.resolved.size).toBeGreaterThan(500));
    await running.kill();
    const resolved = receiver.resolved.size;
    await lab.expectAllArrived(await start());
    expect(receiver.arrivals.size).toBeGreaterThanOrEqual(resolved);
  },
);
