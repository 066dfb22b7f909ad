import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import { getResult, watch } from './player.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

/** Files of parts that this page doesn't use: wallets, and portals with their adapters. */
const otherFiles = [
  'ad-break',
  'connect-page-ads',
  'connect-portal',
  'crazygames',
  'facebook',
  'game-distribution',
  'open-wallet',
  'poki',
  'transfers',
  'yandex',
  'youtube',
];

const languages = 'ar de es fr he id it ja ko nl pl pt ru tr uk zh'.split(' ');
/** Every file that loads after the first one. A new one belongs into this list, and needs a check in `expectAll`. */
const lazyFiles = [
  ...languages,
  'page-consent',
  'debug-tools',
  'follow-turn',
  'gamepad',
  'show-banner',
].sort();
/** Returns the name of the part in a file such as `de-3F7K2Q.js`, or undefined for the page's own files. */
const findPart = (fileName: string): string | undefined =>
  lazyFiles.find((part) => fileName.startsWith(`${part}-`));

let site: Site;
let browser: Browser;
let page: Page;
let problems: string[];
let log: string[];

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.beforeEach(async () => {
  page = await browser.newPage();
  problems = [];
  log = [];
  page.on('pageerror', ({ message }) => {
    // Firefox reports every failed download as an error of the page.
    if (!message.startsWith('Loading module from')) problems.push(message);
  });
  page.on('console', (message) => log.push(message.text()));
  // A gamepad, a turned game, and a consent dialog in which the player has agreed.
  await page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      const canvas = document.querySelector('canvas');
      if (canvas) canvas.style.transform = 'rotate(180deg)';
    });
    const gamepad = { connected: true, index: 0, buttons: [], axes: [] } as unknown as Gamepad;
    navigator.getGamepads = () => [gamepad];
    window.__tcfapi = (
      _command: string,
      _version: number,
      reply: (data: object, success: boolean) => void,
    ) => {
      const consents = { 1: true, 2: true, 7: true };
      reply({ eventStatus: 'tcloaded', gdprApplies: true, purpose: { consents } }, true);
    };
  });
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

/** A page that needs every lazy file: its ads are in German, and other instances use the other languages. */
function pageForAll(): string {
  const url = new URL(
    site.pageFor('image', { 'page-consent': '', debug: '', 'trueward-debug': '' }),
  );
  for (const language of ['de', ...languages]) url.searchParams.append('locale', language);
  return url.href;
}

/**
 * Every part works: the log is written, the panel is open, consent is known, and the ad is turned and in German. A banner
 * loads too.
 */
async function expectAll(): Promise<void> {
  await page.locator('[data-trueward=debug]').first().waitFor();
  await expect.poll(() => page.evaluate(() => window.breakPage.ads.canShow('image'))).toBe(true);
  await page.evaluate(() => void window.breakPage.ads.mountBanner('banner', document.body));
  await watch(page);
  const dialog = page.locator(':lang(de) dialog[open]');
  await expect.poll(() => dialog.evaluate((ad) => getComputedStyle(ad).transform)).not.toBe('none');
  await expect.poll(() => log.join()).toContain('[trueward]');
}

it('loads these files, and no others, after the first', () => {
  const names = site.files.map((name) => name.replace(/(-\w+)?\.js$/, ''));
  // The page's own script, and the files that it imports.
  expect(names.filter((name) => !['game', 'chunk'].includes(name)).sort()).toEqual(
    [...lazyFiles, ...otherFiles].sort(),
  );
});

it('every lazy file that fails once, with a 503, is loaded again', async () => {
  const failed = new Set<string>();
  const loaded = new Set<string>();
  site.isDown = (fileName) => {
    const part = findPart(fileName);
    if (part === undefined) return false;
    (failed.has(part) ? loaded : failed).add(part);
    return !loaded.has(part);
  };
  await page.goto(pageForAll());
  await expectAll();
  await expect.poll(() => Array.from(loaded).sort()).toEqual(lazyFiles);
  expect(problems).toEqual([]);
});

it('every lazy file is loaded after an outage of five seconds, and ads in English continue meanwhile', async () => {
  let outageEnd = Infinity;
  const loaded = new Set<string>();
  site.isDown = (fileName) => {
    const part = findPart(fileName);
    if (part === undefined) return false;
    if (outageEnd === Infinity) outageEnd = Date.now() + 5_000;
    if (Date.now() >= outageEnd) loaded.add(part);
    return !loaded.has(part);
  };
  await page.goto(pageForAll());
  // The game knows the player's choice itself, so ads don't need the file that reads the page's.
  const otherAds = await page.evaluateHandle(() => window.breakPage.createWithConsent());
  await otherAds.evaluate((ads) => void ads.showRewarded('image'));
  await page.locator(':lang(en) dialog[open]').waitFor();
  expect(Date.now()).toBeLessThan(outageEnd);
  await otherAds.evaluate((ads) => ads.destroy());
  await expectAll();
  await expect.poll(() => Array.from(loaded).sort()).toEqual(lazyFiles);
  expect(problems).toEqual([]);
});

it('after a new deployment, which deletes the files, ads continue in English and the developer is told', async () => {
  site.isDown = (fileName) => findPart(fileName) !== undefined;
  await page.goto(pageForAll());
  await watch(page);
  expect(await getResult(page)).toEqual({ outcome: 'not_ready', reason: 'consent_unknown' });
  await expect.poll(() => problems.join('\n')).toMatch(/followPageConsent.* reload the page/);
  await page.evaluate(() => window.breakPage.ads.setConsent({ status: 'granted' }));
  await watch(page);
  await page.locator(':lang(en) dialog[open]').waitFor();
});
