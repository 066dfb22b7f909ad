/**
 * `npm run screenshots:break [folder]` takes screenshots of every view in an ad break, in four sizes and both text
 * directions. Combines the screenshots for each size into one sheet.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { readOptions } from '../../../scripts/lib/read-options.mjs';
import { launchBrowser } from '../browser.ts';
import { waitForStart, watch } from './player.ts';
import { startSite } from './site.ts';

const root = join(import.meta.dirname, '../../..');
const { folder } = readOptions({
  name: 'screenshots:break',
  about: 'Takes screenshots of every view in an ad break, in four sizes and both text directions.',
  options: {
    folder: {
      type: 'text',
      argument: true,
      default: join(root, 'docs/images/break'),
      help: 'where to write them',
    },
  },
});

const sizes = {
  'phone-portrait': { width: 320, height: 568 },
  'phone-landscape': { width: 844, height: 390 },
  tablet: { width: 820, height: 1180 },
  '4k': { width: 3840, height: 2160 },
};

/** A view in an ad break: the placement, its minimum watch time, and the player's actions that lead to the view. */
interface View {
  placement: string;
  minWatchMs: number;
  prepare(page: Page): Promise<unknown>;
}

const longWatchMs = 9_000;
const pause = (page: Page) => page.waitForTimeout(900);
const views: Record<string, View> = {
  video: { placement: 'video', minWatchMs: longWatchMs, prepare: pause },
  image: { placement: 'image', minWatchMs: longWatchMs, prepare: pause },
  html: { placement: 'html', minWatchMs: longWatchMs, prepare: pause },
  question: {
    placement: 'video',
    minWatchMs: longWatchMs,
    async prepare(page) {
      await page.locator('button.close').click();
      await page.locator('.ask').waitFor();
      await pause(page);
    },
  },
  'end card': {
    placement: 'image',
    minWatchMs: 400,
    async prepare(page) {
      await page.locator('.end').waitFor();
      await pause(page);
    },
  },
};

const site = await startSite();
const browser = await launchBrowser(
  '--autoplay-policy=no-user-gesture-required',
  '--hide-scrollbars',
);
try {
  await mkdir(folder, { recursive: true });
  for (const [name, viewport] of Object.entries(sizes)) {
    const screenshots: string[] = [];
    for (const locale of ['en', 'ar'])
      for (const view of Object.values(views))
        screenshots.push(await takeScreenshot(browser, viewport, locale, view));
    await saveSheet(browser, join(folder, `${name}.jpg`), viewport, screenshots);
  }
} finally {
  await browser.close();
  await site.stop();
}

async function takeScreenshot(
  from: Browser,
  viewport: { width: number; height: number },
  locale: string,
  { prepare, minWatchMs, placement }: View,
): Promise<string> {
  const page = await from.newPage({ viewport });
  await page.route('**/v1/decisions', async (route) => {
    const response = await route.fetch();
    const decision = (await response.json()) as object;
    await route.fulfill({ response, json: { ...decision, min_watch_ms: minWatchMs } });
  });
  await page.goto(site.pageFor(placement, { locale }));
  await watch(page);
  await waitForStart(page);
  await prepare(page);
  const screenshot = await page.screenshot({ type: 'png' });
  await page.context().close();
  return screenshot.toString('base64');
}

/** Combines the screenshots into a sheet, with one row per text direction and one column per view. */
async function saveSheet(
  from: Browser,
  path: string,
  { height, width }: { width: number; height: number },
  screenshots: string[],
): Promise<void> {
  const columns = Object.keys(views).length;
  const shownWidth = height > width ? 290 : 390;
  const page = await from.newPage({
    viewport: {
      width: columns * (shownWidth + 8) + 8,
      height: 2 * (Math.round((shownWidth * height) / width) + 8) + 8,
    },
  });
  await page.setContent(
    `<style>body { margin: 8px; display: grid; grid-template-columns: repeat(${columns}, ${shownWidth}px); gap: 8px; background: #888 }
    img { display: block; width: 100% }</style>
    ${screenshots.map((image) => `<img src="data:image/png;base64,${image}">`).join('')}`,
  );
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  await page.screenshot({ path, type: 'jpeg', quality: 72 });
  await page.context().close();
}
