import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { asBefore, button, launch, resultOf, stateOf, watch } from './player.ts';
import { type Site, startSite } from './site.ts';

let site: Site;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  site = await startSite({ strict: true });
  browser = await launch('--autoplay-policy=no-user-gesture-required');
});
afterEach(() => page.context().close());
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

it.each(['video', 'image', 'html'])(
  'shows %s under a strict policy with Trusted Types, without one violation',
  async (placement) => {
    page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(site.pageFor(placement, { locale: 'de' }));
    await watch(page);
    await page.getByText('Deine Belohnung ist unterwegs').first().waitFor();
    await button(page, 'Werbung schließen').first().click();
    expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await stateOf(page)).toEqual(asBefore('play'));
    await page.evaluate(() => window.breakPage.ads.debug());
    await page.locator('[data-trueward="debug"] dd').first().waitFor();
    expect(complaints).toEqual([]);
  },
);

it('reports what the policy refuses, so that the test above can fail', async () => {
  page = await browser.newPage();
  await page.goto(site.pageFor('image'));
  await page.evaluate(() => {
    document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/a.png' }));
  });
  await page.waitForFunction(() => window.breakPage.violations.length > 0);
});
