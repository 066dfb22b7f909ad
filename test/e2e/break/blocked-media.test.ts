import type { BrowserContext, Page, Route } from 'playwright';
import { expect } from 'vitest';
import { getResult, show } from '../browser.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { it } from '../worker.ts';

type Answer = (route: Route) => Promise<void>;

const blockExceptFetch: Answer = (route) =>
  route.request().resourceType() === 'fetch' ? route.continue() : route.abort('blockedbyclient');
const goMissing: Answer = (route) => {
  const headers = { 'access-control-allow-origin': '*', 'timing-allow-origin': '*' };
  return route.fulfill({ status: 404, headers, body: '' });
};

const media: [string, string, Answer, { outcome: string; reason?: string; detail?: string }][] = [
  ['a blocked image', 'long', blockExceptFetch, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['a blocked video', 'long-film', blockExceptFetch, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['a blocked frame', 'html', blockExceptFetch, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['a missing image', 'long', goMissing, { outcome: 'error', detail: 'media_missing' }],
  ['a missing video', 'long-film', goMissing, { outcome: 'error', detail: 'media_missing' }],
  ['a missing frame', 'html', goMissing, { outcome: 'error', detail: 'media_missing' }],
  [
    'an unreachable video',
    'long-film',
    (route) => route.abort('connectionfailed'),
    { outcome: 'error', detail: 'media_network' },
  ],
];

it.for(rowsForRun(media, 2))(
  '%s is reported as such',
  async ([, placement, answer, expected], { browser, stack }) => {
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
  },
);

/** A host that exists only in the rules of a filter. */
const filteredUrl = 'http://play.test';

it.for<[string, (pages: string) => string, { outcome: string; reason: string }]>([
  ['a filter for its whole host', () => filteredUrl, { outcome: 'ad_blocked', reason: 'blocked' }],
  ['nothing', () => 'http://127.0.0.1:9', { outcome: 'offline', reason: 'network' }],
  ['another server', (pages) => pages, { outcome: 'offline', reason: 'unexpected_response' }],
])('at the service’s URL, %s is told apart', async ([, findUrl, expected], { browser, stack }) => {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setBlockedURLs', { urls: [`${filteredUrl}/*`] });
    const url = new URL(stack.pageFor('filtered'));
    url.searchParams.set('service', findUrl(url.origin));
    await page.goto(url.href);
    await show(page, 'showRewarded', 'revive');
    expect(await getResult(page)).toMatchObject(expected);
  } finally {
    await context.close();
  }
});
