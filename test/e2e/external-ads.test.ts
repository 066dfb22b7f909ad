import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import {
  type Advertiser,
  domain,
  price,
  startAdvertiser,
} from '../../service/test/kills/advertiser.ts';
import { createDemand } from '../../service/test/demo-demand.ts';
import { getResult, show } from './browser.ts';
import type { Stack } from './stack.ts';
import { it } from './worker.ts';

const pollOptions = { timeout: 30_000, interval: 200 };
/** Values that the service must not reveal to anyone but the bidder's server. */
const floors = { bidder: 1_234_567, tooHigh: 98_765_432 };
const cpmMicros = 4_321_987;
const privateAddress = '10.9.8.7';

let stack: Stack;
let browser: Browser;
let advertiser: Advertiser;

it.beforeAll(async ({ stack: sharedStack, browser: sharedBrowser }) => {
  [stack, browser] = [sharedStack, sharedBrowser];
  advertiser = await startAdvertiser();
  await connectSources();
});
it.afterAll(() => advertiser?.close());

/**
 * Adds a placement with three sources: a bidder that wins, a bidder whose bid is below its floor, and a tag that
 * redirects to a private IP.
 */
async function connectSources(): Promise<void> {
  const { call, addPlacement, waitForApproval } = createDemand({
    url: stack.serviceUrl,
    keys: stack.keys,
  });
  await addPlacement('Harbour', { name: 'network', format: 'rewarded', min_view_ms: 1_000 });
  await call('POST', 'advertisers', { name: 'Shop', domain, categories: [] });
  await call('POST', 'webhooks', { url: advertiser.webhookUrl, events: ['decision.rewarded'] });
  // On a busy machine, a bidder may take longer than the default.
  const common = { placements: ['network'], priority: 1, review: 'automatic', timeout_ms: 5_000 };
  const bidder = { ...common, kind: 'openrtb', endpoint_url: advertiser.bidUrl };
  const allowed = { allowed_domains: [domain] };
  const source = await call<{ id: string }>('POST', 'sources', {
    ...bidder,
    ...allowed,
    name: 'Bidder',
    floor_micros: floors.bidder,
  });
  await call('POST', 'sources', {
    ...bidder,
    ...allowed,
    name: 'Bidder with a high floor',
    floor_micros: floors.tooHigh,
  });
  await call('POST', 'sources', {
    ...common,
    ...allowed,
    name: 'Redirecting tag',
    kind: 'vast',
    tag_url: advertiser.redirectUrl + privateAddress,
    cpm_micros: cpmMicros,
  });
  await call('POST', 'decisions', { placement: 'network', user_ref: 'first', formats: ['video'] });
  await waitForApproval(source.id);
}

/** Returns the text, followed by the decoded contents of its tokens. Tokens are signed but not encrypted. */
const decodeTokens = (text: string): string =>
  text +
  text
    .split(/[^\w-]/)
    .filter((part) => part.length >= 16)
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    .join('\n');

it('an external ad’s price, floor, trackers and source are not revealed to any client', async () => {
  const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
  const page: Page = await context.newPage();
  const [requests, bodies]: [string[], Promise<string>[]] = [[], []];
  page.on('request', (request) => void requests.push(request.url()));
  page.on('response', (response) => {
    if (!response.url().startsWith(`${stack.serviceUrl}/v1/`)) return;
    bodies.push(response.text().catch(() => ''));
  });
  const pageUrl = stack.pageFor('external-ads');
  await page.goto(pageUrl);
  await show(page, 'showRewarded', 'network');
  const readCoins = async () => (await stack.account('external-ads')).coins;
  await expect.poll(readCoins, pollOptions).toBe(25);
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  const { decisionId } = (await getResult(page)) ?? {};
  await expect.poll(() => advertiser.webhooks.length, pollOptions).toBeGreaterThan(0);
  const status = await fetch(`${stack.serviceUrl}/v1/decisions/${decisionId}`, {
    headers: { authorization: `Bearer ${stack.keys.sandbox.secret}` },
  });
  const texts = [...(await Promise.all(bodies)), ...advertiser.webhooks, await status.text()].map(
    decodeTokens,
  );
  await context.close();

  // The test is meaningful only if an ad with an icon won, other sources lost, and trackers were fired.
  expect(texts.join('\n')).toMatch(/"advertiser":/);
  expect(texts.join('\n')).toMatch(/"icon":/);
  expect(texts.join('\n')).toMatch(/below_floor.*source_error|source_error.*below_floor/s);
  await expect.poll(() => advertiser.requests.size, pollOptions).toBeGreaterThanOrEqual(7);

  const ownOrigins = [new URL(pageUrl).origin, stack.serviceUrl];
  const thirdPartyRequests = requests.filter(
    (url) => /^https?:/.test(url) && !ownOrigins.includes(new URL(url).origin),
  );
  expect(thirdPartyRequests).toEqual([]);
  const secrets = [
    new URL(advertiser.bidUrl).host,
    '/bid',
    '/burl',
    privateAddress,
    ...[
      price,
      cpmMicros,
      floors.bidder,
      floors.tooHigh,
      ...[cpmMicros, floors.bidder, floors.tooHigh].map((micros) => micros / 1e6),
    ].map(String),
    String(Math.round(price * 1e6)),
  ];
  expect(secrets.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([]);
});
