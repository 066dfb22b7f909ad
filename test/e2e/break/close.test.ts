import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import { asBefore, button, getResult, getPageState } from './player.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

/** The `close_after_ms` of every ad that `faulty-service.ts` returns. */
const closeAfterMs = 500;
/**
 * Tolerance for a control that appears late on a busy machine, in milliseconds. This is far less than the default of
 * five seconds.
 */
const graceMs = 1_500;

let site: Site;
let browser: Browser;
let page: Page;

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

/** Measures the time from when the ad opens until its close control appears, in milliseconds of page time. */
const measureTimeToCloseControl = (): Promise<number> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let openedAtMs = 0;
        const checkForControl = () => {
          const dialog = [...document.body.children]
            .map((child) => child.shadowRoot?.querySelector('dialog'))
            .find((dialogElement) => dialogElement?.open);
          if (dialog && openedAtMs === 0) openedAtMs = performance.now();
          if (dialog?.querySelector('.close')?.checkVisibility())
            resolve(performance.now() - openedAtMs);
          else requestAnimationFrame(checkForControl);
        };
        checkForControl();
        document.querySelector<HTMLElement>('#play')?.click();
      }),
  );

const inputs: Record<string, (name: string) => Promise<void>> = {
  'a mouse': (name) => button(page, name).click(),
  touch: (name) => button(page, name).tap(),
  async 'the keyboard'(name) {
    const isFocused = () =>
      button(page, name).evaluate(
        (element) => (element.getRootNode() as ShadowRoot).activeElement === element,
      );
    await button(page, name).waitFor();
    for (let count = 0; count < 6 && !(await isFocused()); count += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  },
};

const kinds = ['video', 'image', 'html'];
/** A quick run tests each input, and each kind of ad, once. */
const closings = rowsForRun(
  kinds.flatMap((kind) => Object.keys(inputs).map((input) => [kind, input])),
  kinds.length + 1,
);

it.each(closings)('%s can be closed with %s as soon as closing is allowed', async (kind, input) => {
  const context = await browser.newContext({ hasTouch: input === 'touch' });
  page = await context.newPage();
  await page.route('**/v1/decisions', async (route) => {
    const response = await route.fetch();
    const decision = (await response.json()) as object;
    await route.fulfill({ response, json: { ...decision, min_watch_ms: 11_000 } });
  });
  await page.goto(site.pageFor(kind));
  expect(await measureTimeToCloseControl()).toBeLessThan(closeAfterMs + graceMs);
  await inputs[input]?.('Close ad');
  await inputs[input]?.('Close anyway');
  expect(await getResult(page)).toMatchObject({ outcome: 'dismissed' });
  expect(await getPageState(page)).toEqual(asBefore('game'));
});
