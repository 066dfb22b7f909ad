import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import { asBefore, button, getResult, getPageState } from './player.ts';
import { type Site, startSite } from './site.ts';
import { it } from '../worker.ts';

/** The `close_after_ms` of every ad that `faulty-service.ts` returns. */
const closeAfterMs = 500;
/** How late a busy machine may show the control, in milliseconds. This is far below the default of five seconds. */
const graceMs = 1_500;

let site: Site;
let browser: Browser;
let page: Page;

it.beforeAll(async ({ browser: shared }) => {
  site = await startSite();
  browser = shared;
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

/** Resolves with the time from when the ad opens until its close control appears, in milliseconds of page time. */
const timeToCloseControl = (): Promise<number> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let opened = 0;
        const checkForControl = () => {
          const dialog = [...document.body.children]
            .map((child) => child.shadowRoot?.querySelector('dialog'))
            .find((dialogElement) => dialogElement?.open);
          if (dialog && opened === 0) opened = performance.now();
          if (dialog?.querySelector('.close')?.checkVisibility())
            resolve(performance.now() - opened);
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
    const isVisible = () =>
      button(page, name).evaluate(
        (element) => (element.getRootNode() as ShadowRoot).activeElement === element,
      );
    await button(page, name).waitFor();
    for (let count = 0; count < 6 && !(await isVisible()); count += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
  },
};

it.each(
  ['video', 'image', 'html'].flatMap((kind) => Object.keys(inputs).map((way) => [kind, way])),
)('%s can be closed with %s as soon as that is allowed', async (kind, way) => {
  const context = await browser.newContext({ hasTouch: way === 'touch' });
  page = await context.newPage();
  await page.route('**/v1/decisions', async (route) => {
    const response = await route.fetch();
    const decision = (await response.json()) as object;
    await route.fulfill({ response, json: { ...decision, min_watch_ms: 11_000 } });
  });
  await page.goto(site.pageFor(kind));
  expect(await timeToCloseControl()).toBeLessThan(closeAfterMs + graceMs);
  await inputs[way]?.('Close ad');
  await inputs[way]?.('Close anyway');
  expect(await getResult(page)).toMatchObject({ outcome: 'dismissed' });
  expect(await getPageState(page)).toEqual(asBefore('game'));
});
