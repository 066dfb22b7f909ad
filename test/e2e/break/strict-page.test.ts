import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import { asBefore, button, getResult, getPageState, watch } from './player.ts';
import { type Site, startSite } from './site.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { it } from '../worker.ts';

let site: Site;
let browser: Browser;
let page: Page;

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite('strict');
  browser = sharedBrowser;
});
it.afterEach(() => page.context().close());
it.afterAll(() => site?.stop());

it.each(rowsForRun(['external', 'image', 'html', 'video'], 2))(
  'showing %s does not violate a strict policy with Trusted Types',
  async (placement) => {
    page = await browser.newPage();
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(site.pageFor(placement, { locale: 'de' }));
    await watch(page);
    await page.getByText('Deine Belohnung ist unterwegs').first().waitFor();
    await button(page, 'Werbung schließen').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await getPageState(page)).toEqual(asBefore('play'));
    await page.evaluate(() => window.breakPage.ads.toggleDebugPanel());
    await page.locator('[data-trueward="debug"] dd').first().waitFor();
    expect(errors).toEqual([]);
  },
);

it('the page detects policy violations', async () => {
  page = await browser.newPage();
  await page.goto(site.pageFor('image'));
  await page.evaluate(() => {
    document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/a.png' }));
  });
  await page.waitForFunction(() => window.breakPage.violations.length > 0);
});

it('an inline HTML creative that the policy blocks fails to load', async () => {
  page = await browser.newPage();
  await page.goto(site.pageFor('inline'));
  await watch(page);
  expect(await getResult(page)).toMatchObject({ outcome: 'error', reason: 'load_failed' });
  expect(await getPageState(page)).toMatchObject({ nodes: 1, top: 'game', focus: 'play' });
});

it('shows an inline HTML creative if the policy allows it', async () => {
  const lenientSite = await startSite('inline creatives');
  try {
    page = await browser.newPage();
    await page.goto(lenientSite.pageFor('inline'));
    await watch(page);
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await getPageState(page)).toEqual(asBefore('play'));
  } finally {
    await lenientSite.stop();
  }
});
