import type { BrowserContext, Page, Route } from 'playwright';
import { expect } from 'vitest';
import { getResult, show } from '../browser.ts';
import { it } from '../worker.ts';

type Answer = (route: Route) => Promise<void>;

const blockExceptFetch: Answer = (route) =>
  route.request().resourceType() === 'fetch' ? route.continue() : route.abort('blockedbyclient');
const goMissing: Answer = (route) => {
  const headers = { 'access-control-allow-origin': '*', 'timing-allow-origin': '*' };
  return route.fulfill({ status: 404, headers, body: '' });
};

it.for<[string, string, Answer, { outcome: string; reason?: string; detail?: string }]>([
  ['a blocked image', 'long', blockExceptFetch, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['a blocked video', 'long-film', blockExceptFetch, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['a missing image', 'long', goMissing, { outcome: 'error', detail: 'media_missing' }],
  ['a missing video', 'long-film', goMissing, { outcome: 'error', detail: 'media_missing' }],
  [
    'an unreachable video',
    'long-film',
    (route) => route.abort('connectionfailed'),
    { outcome: 'error', detail: 'media_network' },
  ],
])('%s is reported as such', async ([, placement, answer, expected], { browser, stack }) => {
  const context: BrowserContext = await browser.newContext({ serviceWorkers: 'block' });
  try {
    const page: Page = await context.newPage();
    await page.goto(stack.pageFor('blocked'));
    await page.route(/\/media\//, answer);
    await show(page, 'showRewarded', placement);
    expect(await getResult(page)).toMatchObject(expected);
    // The button is not offered again at once, and says why.
    const availability = await page.evaluate((name) => window.ads.availability(name), placement);
    expect(availability).toMatchObject({ available: false, outcome: expected.outcome });
  } finally {
    await context.close();
  }
});
