import type { BrowserContext, Page } from 'playwright';
import { describe, expect, inject } from 'vitest';
import { closeAd } from './browser.ts';
import { it } from './worker.ts';

const watchTimeout = { timeout: 40_000, interval: 200 };

describe('the demo game', () => {
  let browser: BrowserContext;
  let page: Page;
  const errors: string[] = [];

  it.beforeAll(async ({ browser: sharedBrowser, stack }) => {
    browser = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
    page = await browser.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      // The answer to the first request for an ad is that the service needs a guest player.
      const asksForPlayer = message.text().includes('status of 422');
      if (message.type() === 'error' && !asksForPlayer) errors.push(message.text());
    });
    await page.goto(`${stack.gameServerUrl}/?seed=7`);
  });
  it.afterAll(() => browser?.close());

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const readText = (testId: string): Promise<string | null> =>
    page.getByTestId(testId).textContent();
  /** Waits until the run ends. Without input, the lantern falls into the water. */
  const waitForGameOver = () => button('Revive').waitFor();
  const readReviveNote = (): Promise<string | null> => page.locator('#revive-note').textContent();
  const isAdOpen = (): Promise<boolean> =>
    page.getByText('Advertisement', { exact: true }).isVisible();

  /** Goes offline from within the page, because a click sent by the test could arrive after the ad has ended. */
  const goOfflineWhenAdOpens = (): Promise<void> =>
    page.getByLabel('Offline').evaluate((offline: HTMLInputElement) => {
      const goOfflineIfOpen = (): void => {
        const isOpen = [...document.body.children].some(
          (child) => child.shadowRoot?.querySelector('dialog')?.open,
        );
        if (!isOpen) return void requestAnimationFrame(goOfflineIfOpen);
        // An ad that has just opened ignores clicks, those of the page's own scripts included.
        offline.checked = true;
        offline.dispatchEvent(new Event('change'));
      };
      goOfflineIfOpen();
    });

  it('shows a house ad in the lobby', async () => {
    await button('Play').waitFor();
    await expect.poll(() => page.getByTestId('lobby-banner').locator('img').count()).toBe(1);
    await expect.poll(() => readText('server-coins')).toBe('0');
  });

  it('offers an ad from a network in the lobby', async () => {
    const treasureNote = page.locator('#treasure-note');
    await expect.poll(() => treasureNote.textContent()).toBe('Watch a short ad for 40 coins');
  });

  it.runIf(inject('full'))(
    'sells two things in its shop, and a second browser goes on as the same player',
    async ({ browser: sharedBrowser, stack }) => {
      await button(/^Shop/).click();
      const watch = async (offer: string): Promise<void> => {
        await page.locator(`#${offer}:enabled`).click();
        await page.getByText('Your reward is on its way').first().waitFor();
        await closeAd(page);
      };
      await watch('gems-ad');
      await expect.poll(() => readText('gems'), watchTimeout).toBe('5');
      await button('Blue flame').click();
      await expect.poll(() => page.locator('#flame-note').textContent()).toBe('Yours');
      expect(await readText('gems')).toBe('0');
      await watch('sparks-ad');
      const timeLeft = page.locator('#sparks-left');
      await expect.poll(() => timeLeft.textContent(), watchTimeout).toMatch(/ (10:00|9:\d\d)\.$/);

      await page.getByText('second browser', { exact: false }).first().click();
      await button('Make a code').click();
      await expect.poll(() => page.locator('#code').textContent()).toMatch(/^\w{4}-\w{4}$/);
      const code = (await page.locator('#code').textContent()) ?? '';
      const second = await sharedBrowser.newPage();
      await second.goto(stack.gameServerUrl);
      await second.getByRole('button', { name: /^Shop/ }).click();
      await second.getByText('second browser', { exact: false }).first().click();
      await second.getByLabel('Code from the first browser').fill(code.toLowerCase());
      await second.getByRole('button', { name: 'Link' }).click();
      await expect.poll(() => second.locator('#sparks-left').textContent()).toMatch(/double for/);
      await second.close();
      await button('Back').click();
    },
  );

  it('shows the coins for an ad once the game server has credited them', async () => {
    await button('Play').click();
    await waitForGameOver();
    const delivered = Number(await readText('device-delivered'));
    await button('Earn coins').click();
    await expect.poll(() => readText('server-coins'), watchTimeout).toBe('50');
    await closeAd(page);
    await expect.poll(() => readText('last-outcome')).toBe('double-coins: rewarded');
    await expect.poll(() => readText('device-delivered')).toBe(String(delivered + 1));
    await expect.poll(() => page.locator('#double-note').textContent()).toBe('Confirmed: 50 coins');
    expect(await readText('coins')).toBe('50');
  });

  it('continues the run after a revive ad', async () => {
    await button('Revive').click();
    await expect.poll(() => readText('server-coins'), watchTimeout).toBe('75');
    await closeAd(page);
    await expect.poll(() => readText('last-outcome')).toBe('revive: rewarded');
    // The run continues until the lantern falls into the water again.
    await expect.poll(() => page.getByText('Once per run').isVisible()).toBe(true);
  });

  it('shows an interstitial after the second run, then the lobby', async () => {
    await button('Lobby').click();
    await expect.poll(isAdOpen).toBe(true);
    await closeAd(page);
    await expect.poll(() => readText('last-outcome')).toBe('level-end: completed');
    await button('Play').waitFor();
  });

  it('does not lose a reward while offline', async () => {
    await button('Play').click();
    await waitForGameOver();
    await goOfflineWhenAdOpens();
    const delivered = Number(await readText('device-delivered'));
    await button('Earn coins').click();
    await expect
      .poll(() => page.getByText('Your reward is on its way').first().isVisible(), watchTimeout)
      .toBe(true);
    await closeAd(page);
    await expect.poll(() => readText('last-outcome'), watchTimeout).toBe('double-coins: pending');
    expect(await readText('server-coins')).toBe('75');
    await page.getByLabel('Offline').evaluate((offline: HTMLInputElement) => offline.click());
    await expect.poll(() => readText('server-coins'), watchTimeout).toBe('125');
    await expect.poll(() => readText('device-delivered'), watchTimeout).toBe(String(delivered + 1));
    await expect.poll(() => page.locator('#double-note').textContent()).toBe('Confirmed: 50 coins');
  });

  it('shows the message for a simulated outcome', async () => {
    await page.getByLabel('Outcome').selectOption('no_fill');
    await button('Play again').click();
    await waitForGameOver();
    await expect.poll(readReviveNote).toBe('There is no ad right now.');
    expect(await button('Revive').isDisabled()).toBe(true);
    await page.getByLabel('Outcome').selectOption('');
    await expect.poll(readReviveNote).toMatch(/^Watch a short ad/);
    expect(await button('Revive').isEnabled()).toBe(true);
  });

  it('logged no errors during the other tests', () => {
    expect(errors).toEqual([]);
  });
});
