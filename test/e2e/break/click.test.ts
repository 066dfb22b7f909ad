import type { Browser, Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { EventBatch } from '../../../protocol/wire.ts';
import { closeAd } from '../browser.ts';
import { asBefore, waitForStart, getResult, getPageState, watch } from './player.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

let site: Site;
let browser: Browser;
let page: Page;
let events: string[];

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

async function open(placement: string): Promise<void> {
  page = await browser.newPage();
  events = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/v1/events')) return;
    const batch = request.postDataJSON() as EventBatch;
    events.push(...batch.events.map(({ type }) => type));
  });
  await page
    .context()
    .route('https://advertiser.example/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>The advertiser</title>' }),
    );
  await page.goto(site.pageFor(placement));
  await watch(page);
  await waitForStart(page);
}

const isPaused = () => page.evaluate(() => document.querySelector('video')?.paused);

/** Fakes the window's focus, because a headless browser's window always reports that it has focus. */
const setFocus = (hasFocus: boolean) =>
  page.evaluate((hasWindowFocus) => {
    document.hasFocus = () => hasWindowFocus;
    if (hasWindowFocus) window.dispatchEvent(new FocusEvent('focus'));
  }, hasFocus);

/** Follows the ad's link. An ad ignores presses for a moment after it opens, so a player presses again. */
async function followLink(): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await expect.poll(isPaused).toBe(false);
  while (!(await isPaused())) await page.getByRole('link', { name: 'Learn more' }).click();
  return opened;
}

it('a click opens the advertiser’s page and pauses the ad until the player returns', async () => {
  await open('video');
  await setFocus(false);
  const link = page.getByRole('link', { name: 'Learn more' });
  const tab = await followLink();
  await expect.poll(() => tab.title()).toBe('The advertiser');
  expect(await tab.evaluate(() => opener)).toBeNull();
  expect(await isPaused()).toBe(true);
  await setFocus(true);
  await expect.poll(isPaused).toBe(false);
  await link.click();
  await page.getByText('Your reward is on its way').first().waitFor();
  await closeAd(page);
  expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
  expect(await getPageState(page)).toEqual(asBefore('play'));
  await expect.poll(() => events).toContain('close');
  expect(events.filter((type) => type === 'click')).toHaveLength(1);
});

it('clicking the ad resumes it if focus does not return', async () => {
  await open('video');
  await setFocus(false);
  await (await followLink()).close();
  expect(await isPaused()).toBe(true);
  await page.locator('video').click();
  await expect.poll(isPaused).toBe(false);
});

it.runIf(inject('full'))(
  'a click pauses the ad only briefly if the advertiser’s page opens in the background',
  async () => {
    await open('video');
    await page.evaluate(() =>
      document
        .querySelector('video')
        ?.addEventListener('pause', () => (document.documentElement.dataset['paused'] = 'yes')),
    );
    await followLink();
    expect(await page.evaluate(() => document.documentElement.dataset['paused'])).toBe('yes');
    await expect.poll(isPaused).toBe(false);
  },
);
