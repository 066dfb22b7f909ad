import type { BrowserContext, Page } from 'playwright';
import { expect, inject } from 'vitest';
import { it } from './worker.ts';

const otherPortals = ['crazygames', 'gamedistribution', 'gamesnacks', 'google_h5'].concat([
  'yandex',
  'facebook',
  'youtube',
]);
const portals = ['poki', ...(inject('full') ? otherPortals : [])];

/** Stops the page's animation frames, so that the game's next frame, and with it the reward, never comes. */
const stopFrames = (page: Page): Promise<void> =>
  page.evaluate(() => void (window.requestAnimationFrame = () => 0));

it.for(portals)(
  'the demo runs on %s: a reward whose game crashes before it is saved arrives once',
  async (portal, { browser, stack }) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const errors: string[] = [];
    const open = async (laterMs = 0): Promise<Page> => {
      const page = await context.newPage();
      await page.addInitScript((ms) => {
        const { now } = Date;
        Date.now = () => now() + ms;
      }, laterMs);
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('request', (request) => {
        if (request.url().startsWith(stack.serviceUrl)) errors.push(request.url());
      });
      await page.goto(`${stack.gameServerUrl}/?seed=7&portal=${portal}`);
      await page.getByRole('button', { name: 'Play' }).waitFor();
      return page;
    };
    const read = (page: Page, testId: string): Promise<string | null> =>
      page.getByTestId(testId).textContent();
    const showAd = async (page: Page, end: string): Promise<void> => {
      await page.locator('#treasure:enabled').click();
      await page.getByTestId('portal-ad').waitFor();
      // The game behind the ad is held, so nothing of it hears the keyboard.
      await page.getByRole('button', { name: end }).click();
      await page.getByTestId('portal-ad').waitFor({ state: 'detached' });
    };

    const page = await open();
    // Some parts of the page need the service. Without them, the stage is larger.
    await expect(page.getByText('On the game server').isVisible()).resolves.toBe(false);
    const readHeights = (): Promise<number[]> =>
      page.evaluate(() =>
        ['#canvas', '#canvas canvas'].map(
          (part) => document.querySelector(part)?.clientHeight ?? 0,
        ),
      );
    await expect.poll(async () => new Set(await readHeights()).size).toBe(1);
    // On CrazyGames, an ad that was closed looks like one that failed.
    if (portal !== 'crazygames') {
      await showAd(page, 'Close early');
      await expect.poll(() => read(page, 'last-outcome')).toBe('treasure: dismissed');
    }
    await stopFrames(page);
    await showAd(page, 'Watch to the end');
    await expect.poll(() => read(page, 'last-outcome')).toBe('treasure: rewarded');
    await expect.poll(() => read(page, 'device-earned')).toBe('1');
    expect(await read(page, 'device-delivered')).toBe('0');
    await crash(context, page);

    // The player returns a minute later.
    const next = await open(60_000);
    await expect.poll(() => read(next, 'device-delivered')).toBe('1');
    await expect.poll(() => read(next, 'device-earned')).toBe('0');
    expect(await read(next, 'coins')).toBe('100');
    await next.reload();
    await next.locator('#treasure:enabled').waitFor();
    await expect.poll(() => read(next, 'device-delivered')).toBe('1');
    expect(await read(next, 'device-earned')).toBe('0');
    expect(await read(next, 'coins')).toBe('100');
    await context.close();
    expect(errors).toEqual([]);
  },
);

async function crash(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  devtools.send('Page.crash').catch(() => undefined);
  await crashed;
}
