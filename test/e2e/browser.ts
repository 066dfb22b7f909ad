import { type Browser, chromium, firefox, type Page } from 'playwright';
import type { Ads, ShowResult } from 'trueward';

const args = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium with these arguments, or, with `BROWSER_NAME=firefox`, the Firefox at `BROWSER_PATH`. */
export function launchBrowser(...more: string[]): Promise<Browser> {
  if (process.env['BROWSER_NAME'] === 'firefox') {
    const executablePath = process.env['BROWSER_PATH'] ?? '';
    return firefox.launch({ channel: 'moz-firefox', executablePath });
  }
  return chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [...args, ...more],
    // Players have that cache, and Playwright turns it off.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
}

declare global {
  /** What the plain page offers to the tests. */
  interface Window {
    ads: Ads;
    handed(): { decisionId: string; type: string; amount: number }[];
    shown?: Promise<ShowResult>;
  }
}

/**
 * Begins to show an ad by a real click, which browsers want before they play sound. The result is
 * fetched with {@link resultOf}.
 */
export async function show(
  page: Page,
  call: 'showRewarded' | 'showInterstitial',
  placement: string,
): Promise<void> {
  await page.evaluate(
    ([name, where]) => {
      document.querySelector('#play')?.addEventListener(
        'click',
        () => {
          window.shown = window.ads[name](where);
        },
        { once: true },
      );
    },
    [call, placement] as const,
  );
  await page.locator('#play').click();
}

/** How the last call to {@link show} ended. */
export function resultOf(page: Page): Promise<ShowResult | undefined> {
  return page.evaluate(() => window.shown);
}

/** The rewards that the page's game was handed, now and in earlier lives of the page. */
export function handed(page: Page): Promise<ReturnType<Window['handed']>> {
  return page.evaluate(() => window.handed());
}
