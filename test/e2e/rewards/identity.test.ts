import type { BrowserContext, Page } from 'playwright';
import type { createAds, ShowResult } from 'trueward';
import { expect } from 'vitest';
import type { Decision, Placement } from '../../../protocol/wire.ts';
import { signUserToken } from '../../../src/server/index.ts';
import { createDemand } from '../../../service/test/demo-demand.ts';
import { getResult, show } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import { post } from './cheat.ts';

let stack: Stack;
let browser: BrowserContext;
let page: Page;
let demand: ReturnType<typeof createDemand>;

it.beforeAll(async ({ browser: sharedBrowser, stack: sharedStack }) => {
  stack = sharedStack;
  demand = createDemand({ url: stack.serviceUrl, keys: stack.keys });
  await demand.addPlacement('Harbour', {
    name: 'vouched',
    format: 'rewarded',
    min_view_ms: 1_000,
  });
  browser = await sharedBrowser.newContext();
  page = await browser.newPage();
  await page.goto(stack.pageFor('somebody'));
});
it.afterAll(() => browser?.close());

const requireIdentity = (identity: Placement['identity']): Promise<void> =>
  demand.change('placements', 'vouched', { identity });
const readCoins = (name: string) => stack.account(name).then((account) => account.coins);
const pollOptions = { timeout: 30_000, interval: 100 };
const request = { placement: 'vouched', user_ref: 'somebody' };
/** Resolves when requests that have only a user reference no longer receive an ad. */
const waitUntilEnforced = () =>
  expect
    .poll(() => post(page, stack, '/v1/decisions', request), pollOptions)
    .toMatchObject({ code: 'identity_required' });
/** Watches an ad and closes it. */
async function earn(): Promise<ShowResult | undefined> {
  await show(page, 'showRewarded', 'vouched');
  await page.getByText('Your reward is on its way').first().waitFor();
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  return getResult(page);
}

it('a placement that requires user tokens returns ads only to requests with a token', async () => {
  await requireIdentity('user_token');
  await waitUntilEnforced();
  await show(page, 'showRewarded', 'vouched');
  expect(await getResult(page)).toMatchObject({ outcome: 'error', reason: 'identity_required' });

  const { secret } = await demand.call<{ secret: string }>('POST', 'user_token_secrets', {
    overlap_s: 0,
  });
  const token = await signUserToken('named-by-token', secret);
  await page.evaluate(
    ([publishableKey, serviceUrl, userToken]) => {
      window.ads.destroy();
      const { Trueward } = window as unknown as { Trueward: { createAds: typeof createAds } };
      // Passes a function that is called for each request, as a game that runs for hours would.
      window.ads = Trueward.createAds({ publishableKey, serviceUrl, userToken: () => userToken });
    },
    [stack.keys.sandbox.publishable, stack.serviceUrl, token] as const,
  );
  expect(await earn()).toMatchObject({ outcome: 'rewarded' });
  await expect.poll(() => readCoins('named-by-token'), pollOptions).toBe(25);
  expect(await readCoins('somebody')).toBe(0);
});

it('a placement that requires server-side requests shows the ad from the server’s decision', async () => {
  await page.reload();
  await requireIdentity('server');
  await waitUntilEnforced();

  const decision = await demand.call<Decision>('POST', 'decisions', {
    ...request,
    user_ref: 'named-by-server',
  });
  const availability = await page.evaluate(
    (decision) => window.ads.preload('vouched', { decision }),
    decision,
  );
  expect(availability).toEqual({ available: true, reward: { type: 'coins', amount: 25 } });
  expect(await earn()).toMatchObject({ outcome: 'rewarded', decisionId: decision.id });
  await expect.poll(() => readCoins('named-by-server'), pollOptions).toBe(25);
  expect(await readCoins('somebody')).toBe(0);
});
