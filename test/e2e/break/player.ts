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

/** Returns the result of the page's last ad. */
export function getResult(page: Page): Promise<ShowResult | undefined> {
  return page.evaluate(() => window.breakPage.shown);
}

/** Returns the state of the page after an ad. The state equals {@link asBefore} if the ad left nothing on the page. */
export function getPageState(page: Page) {
  return page.evaluate(() => ({
    nodes: document.body.children.length,
    top: document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.id,
    focus: document.activeElement?.id,
    violations: window.breakPage.violations,
  }));
}

/** The state of the page before an ad. If a click on the button `play` started the ad, the button has focus. */
export const asBefore = (focus: 'play' | 'game') => ({
  nodes: 1,
  top: 'game',
  focus,
  violations: [],
});
