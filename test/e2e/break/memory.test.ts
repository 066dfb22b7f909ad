import type { Browser, CDPSession, Page } from 'playwright';
import { expect, inject } from 'vitest';
import { readWhole } from '../../../scripts/lib/read-whole.mjs';
import { getPageState } from './player.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

const isFullRun = inject('full');
/** Number of ad breaks. To run more: `BREAKS=200 npm run test:full -- --project e2e memory`. */
const breaks = isFullRun ? readWhole('BREAKS', 24) : 6;
/** Number of warm-up ad breaks. The first six play every kind of creative, both aborted and watched. */
const warmUp = isFullRun ? 12 : 6;
/**
 * Maximum heap growth. Some growth is expected, because the browser compiles some code late and the SDK remembers
 * rewards.
 */
const allowedBytes = 150_000 + breaks * 2_000;

let site: Site;
let browser: Browser;

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.afterAll(() => site?.stop());

/** Plays ad breaks with each kind of creative in turn. Three of every nine breaks are aborted. */
function play(page: Page, count: number): Promise<string[]> {
  return page.evaluate(async (times) => {
    const outcomes: string[] = [];
    const kinds = ['video', 'image', 'html'];
    const findVisible = (selector: string) =>
      [...document.body.children]
        .flatMap((child) => [...(child.shadowRoot?.querySelectorAll<HTMLElement>(selector) ?? [])])
        .find((element) => element.checkVisibility());
    const { ads } = window.breakPage;
    for (let index = 0; index < times; index += 1) {
      const abort = new AbortController();
      const result = ads.showRewarded(kinds[index % 3] ?? '', { signal: abort.signal });
      const off = ads.on('start', () => {
        if (index % 9 < 3) abort.abort();
      });
      // Closes the ad as soon as its reward is due.
      const close = setInterval(() => {
        if (findVisible('.title')?.textContent?.startsWith('Your reward'))
          findVisible('.close')?.click();
      }, 50);
      outcomes.push((await result).outcome);
      clearInterval(close);
      off();
    }
    return outcomes;
  }, count);
}

interface Footprint {
  Nodes: number;
  JSEventListeners: number;
  Documents: number;
  JSHeapUsedSize: number;
}

async function measureFootprint(session: CDPSession): Promise<Footprint> {
  // Some objects become collectible only after an earlier garbage collection has freed others.
  for (let count = 0; count < 3; count += 1) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as never;
}

it(
  'ad breaks do not leak nodes, listeners, documents or memory',
  { timeout: 60_000 + breaks * 1500 },
  async () => {
    const page = await browser.newPage();
    await page.route('**/v1/decisions', async (route) => {
      const response = await route.fetch();
      const decision = (await response.json()) as object;
      await route.fulfill({ response, json: { ...decision, min_watch_ms: 100 } });
    });
    await page.goto(site.pageFor('image'));
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await play(page, warmUp);
    const before = await measureFootprint(session);
    const outcomes = await play(page, breaks);
    expect(new Set(outcomes)).toEqual(new Set(['aborted', 'rewarded']));
    // Polls, because the last ad break may not have been garbage-collected yet. The same may be true of `before`.
    for (const metric of ['Documents', 'Nodes', 'JSEventListeners'] as const)
      await expect
        .poll(async () => (await measureFootprint(session))[metric], { message: metric })
        .toBeLessThanOrEqual(before[metric]);
    const after = await measureFootprint(session);
    const bytes = after.JSHeapUsedSize - before.JSHeapUsedSize;
    console.info(`${breaks} breaks: the heap grew by ${bytes} to ${after.JSHeapUsedSize} bytes`);
    // After only a few ad breaks, the heap size depends more on the browser than on leaks.
    if (isFullRun) expect(bytes).toBeLessThan(allowedBytes);
    expect(await getPageState(page)).toMatchObject({ nodes: 1, top: 'game' });
  },
);
