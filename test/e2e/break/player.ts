import type { Locator, Page } from 'playwright';
import type { ShowResult } from '../../../src/index.ts';
import type {} from './page/game.ts';

export const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true }).filter({ visible: true });

/** Starts an ad with a real click. */
export const watch = (page: Page): Promise<void> => page.locator('#play').click();

/** Resolves when the ad has shown its first frame. */
export async function waitForStart(page: Page): Promise<void> {
  await page.locator('dialog[open]').waitFor();
  await page.waitForFunction(() => window.breakPage.ads.diagnostics().showing !== null);
}

/** Returns the result of the last ad that the page showed. */
export function getResult(page: Page): Promise<ShowResult | undefined> {
  return page.evaluate(() => window.breakPage.lastResult);
}

/** Returns the page's state after an ad. It equals {@link asBefore} if the ad left nothing behind on the page. */
export function getPageState(page: Page) {
  return page.evaluate(() => ({
    nodes: document.body.children.length,
    top: document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.id,
    focus: document.activeElement?.id,
    violations: window.breakPage.violations,
  }));
}

/** The page's state before an ad. If the ad was started by clicking the `play` button, that button has focus. */
export const asBefore = (focus: 'play' | 'game') => ({
  nodes: 1,
  top: 'game',
  focus,
  violations: [],
});
