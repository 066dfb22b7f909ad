import { type Browser, chromium, firefox, type Locator, type Page } from 'playwright';
import type { Ads, ShowResult } from 'trueward';

const args = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The path of a complete Chromium, whose tabs are frozen, suspended and cached as those of players are. */
export const chromiumPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/**
 * Launches Chromium's headless shell with these extra arguments, or Chromium if there is no shell. With
 * `BROWSER_NAME=firefox`, launches the Firefox at `BROWSER_PATH`.
 */
export function launchBrowser(...extraArgs: string[]): Promise<Browser> {
  if (process.env['BROWSER_NAME'] === 'firefox') {
    const executablePath = process.env['BROWSER_PATH'] ?? '';
    return firefox.launch({ channel: 'moz-firefox', executablePath });
  }
  const executablePath = process.env['HEADLESS_SHELL_PATH'] ?? chromiumPath;
  return chromium.launch({ executablePath, args: [...args, ...extraArgs] });
}

/** Launches a complete Chromium. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    args,
    // Playwright disables the back/forward cache, which players' browsers use.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });

declare global {
  /** Globals that `pages/plain.js` defines for the tests. */
  interface Window {
    ads: Ads;
    deliveredRewards(): { decisionId: string; type: string; amount: number }[];
    lastResult?: Promise<ShowResult>;
  }
}

/**
 * Starts an ad with a real click, because browsers play sound only after a user gesture. {@link getResult} returns the
 * ad's result.
 */
export async function show(
  page: Page,
  call: 'showRewarded' | 'showInterstitial',
  placement: string,
): Promise<void> {
  await page.evaluate(
    ([method, placementName]) => {
      document.querySelector('#play')?.addEventListener(
        'click',
        () => {
          window.lastResult = window.ads[method](placementName);
        },
        { once: true },
      );
    },
    [call, placement] as const,
  );
  await page.locator('#play').click();
}

/** The control that closes an ad. */
export const closeControl = (page: Page): Locator =>
  page.getByRole('button', { name: 'Close ad' }).first();

/** Closes an ad, unless it closes itself. An ad ignores presses for a moment, so a player presses again. */
export async function closeAd(page: Page, close = closeControl(page)): Promise<void> {
  const ad = page.locator('dialog[open]');
  while ((await ad.count()) > 0) {
    // The ad can close between the two calls.
    if (await close.isVisible()) await close.click({ timeout: 2_000 }).catch(() => undefined);
  }
}

/** Closes a rewarded ad before its end. An ad ignores presses for a moment after it opens, so a player presses again. */
export async function closeEarly(page: Page): Promise<void> {
  const closeAnyway = page.getByRole('button', { name: 'Close anyway' });
  await closeControl(page).waitFor();
  while (!(await closeAnyway.isVisible())) await closeControl(page).click();
  await closeAnyway.click();
}

/** Returns the result of the last call to {@link show}. */
export function getResult(page: Page): Promise<ShowResult | undefined> {
  return page.evaluate(() => window.lastResult);
}

/** Returns the rewards delivered to the page's game, including those before a reload. */
export function deliveredRewards(page: Page): Promise<ReturnType<Window['deliveredRewards']>> {
  return page.evaluate(() => window.deliveredRewards());
}
