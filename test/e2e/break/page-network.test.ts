import type { BrowserContext, Page } from 'playwright';
import { expect } from 'vitest';
import { deliveredRewards, getResult, show } from '../browser.ts';
import { it } from '../worker.ts';

let context: BrowserContext;
let page: Page;

it.beforeEach(async ({ browser }) => {
  context = await browser.newContext();
  page = await context.newPage();
});
it.afterEach(() => context.close());

/** Watches an ad to the end and closes it. */
async function earn(placement: string): Promise<unknown> {
  await show(page, 'showRewarded', placement);
  // An ad that ends by itself has failed.
  const ended = getResult(page).then((result) => result?.outcome);
  const watched = page.getByText('Your reward is on its way').first().waitFor();
  const failure = await Promise.race([watched, ended]);
  if (failure !== undefined) return getResult(page);
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  return (await getResult(page))?.outcome;
}

it.for([
  ['require-corp', ['html', 'film', 'revive']],
  ['credentialless', ['html']],
] as const)(
  'shows every format on a cross-origin isolated page (%s)',
  async ([policy, placements], { stack }) => {
    await page.goto(`${stack.pageFor(policy)}&isolated=${policy}`);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    for (const placement of placements)
      expect(['rewarded', 'pending'], placement).toContain(await earn(placement));
  },
);

it('a cache-first service worker hides neither a reward nor a dead service', async ({ stack }) => {
  await page.goto(stack.pageFor('cached'));
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/cache-first.js');
    await navigator.serviceWorker.ready;
  });
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  expect(['rewarded', 'pending']).toContain(await earn('revive'));
  await expect.poll(() => deliveredRewards(page)).toHaveLength(1);

  await page.goto(
    stack.pageFor('cached').replace(encodeURIComponent(stack.serviceUrl), 'http://127.0.0.1:9'),
  );
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await show(page, 'showRewarded', 'revive');
  expect(await getResult(page)).toMatchObject({ outcome: 'offline' });
});
