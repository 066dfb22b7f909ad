import { type BrowserContext, chromium, firefox, type Page } from 'playwright';
import type { Ads, ShowResult } from 'trueward';

const args = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser of its own with a profile that lasts, as a player has it; with `BROWSER_NAME`, Firefox. */
export function openBrowser(profile = ''): Promise<BrowserContext> {
  const viewport = { width: 800, height: 600 };
  if (process.env['BROWSER_NAME'] === 'firefox') {
    const executablePath = process.env['BROWSER_PATH'] ?? '';
    return firefox.launchPersistentContext(profile, {
      channel: 'moz-firefox',
      executablePath,
      viewport,
    });
  }
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  return chromium.launchPersistentContext(profile, { executablePath, args, viewport });
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
