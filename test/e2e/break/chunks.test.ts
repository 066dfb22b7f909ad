import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import { asBefore, waitForStart, getResult, getPageState, watch } from './player.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

let site: Site;
let browser: Browser;
let page: Page;

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

it.each([
  ['requests', 'image'],
  ['show-ad', 'image'],
  ['image', 'image'],
  ['external-ad', 'external'],
])('the next call reloads the %s chunk if it failed to load', async (chunk, placement) => {
  page = await browser.newPage();
  const chunks = `**/${chunk}-*.js`;
  await page.route(chunks, (route) => route.abort());
  await page.goto(site.pageFor(placement));
  await watch(page);
  expect(await getResult(page)).toMatchObject({ outcome: 'error', reason: 'chunk_not_loaded' });
  expect(await getPageState(page)).toEqual(asBefore('play'));
  await page.unroute(chunks);
  await watch(page);
  await waitForStart(page);
});

it('the page consent chunk is reloaded if it failed to load', async () => {
  page = await browser.newPage();
  const chunks = '**/page-consent-*.js';
  await page.route(chunks, (route) => route.abort());
  const failedRequest = page.waitForEvent('requestfailed');
  await page.goto(site.pageFor('image', { 'page-consent': 'yes' }));
  await failedRequest;
  await page.unroute(chunks);
  const chunkResponse = page.waitForResponse(chunks);
  await watch(page);
  expect(await getResult(page)).toEqual({ outcome: 'error', reason: 'chunk_not_loaded' });
  await chunkResponse;
  await watch(page);
  expect(await getResult(page)).toMatchObject({ reason: 'consent_unknown' });
});

it('reports an uncaught error if the debug panel’s chunk fails to load', async () => {
  page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.route('**/open-panel-*.js', (route) => route.abort());
  await page.goto(site.pageFor('image'));
  await page.evaluate(() => window.breakPage.ads.toggleDebugPanel());
  await expect.poll(() => errors.join()).toContain('chunk_not_loaded');
});
