import type { BrowserContext, Page } from 'playwright';
import type { createAds, ShowResult } from 'trueward';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Decision, Placement } from '../../../protocol/wire.ts';
import { signUserToken } from '../../../src/server/index.ts';
import { openBrowser } from '../browser.ts';
import { type Stack, startStack } from '../stack.ts';
import { imagePageFor, post } from './cheat.ts';

let stack: Stack;
let browser: BrowserContext;
let page: Page;

beforeAll(async () => {
  stack = await startStack();
  browser = await openBrowser();
  page = await browser.newPage();
  await page.goto(imagePageFor(stack, 'somebody'));
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Asks the service as the game's own server does. */
async function manage<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(stack.serviceUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${stack.keys.sandbox.secret}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
async function demand(identity: Placement['identity']): Promise<void> {
  const { data } = await manage<{ data: Placement[] }>('GET', '/v1/placements?limit=100');
  const revive = data.find(({ name }) => name === 'revive');
  await manage('PATCH', `/v1/placements/${revive?.id}`, { identity });
}
const coins = (name: string) => stack.account(name).then((account) => account.coins);
const watched = { timeout: 30_000, interval: 100 };
const showRewarded = (): Promise<ShowResult> =>
  page.evaluate(async () => {
    const shown = window.ads.showRewarded('revive');
    // The last word of the service is in the account: no need to close the ad by hand.
    return Promise.race([
      shown,
      new Promise<ShowResult>((resolve) => {
        window.ads.on('reward', ({ decisionId }) => resolve({ outcome: 'rewarded', decisionId }));
      }),
    ]);
  });

it('where a placement demands a user token, a name alone gets no ad, and the token earns for its user', async () => {
  await demand('user_token');
  await expect
    .poll(showRewarded, watched)
    .toMatchObject({ outcome: 'error', reason: 'identity_required' });

  const { secret } = await manage<{ secret: string }>('POST', '/v1/user_token_secrets', {
    overlap_s: 0,
  });
  const token = await signUserToken('named-by-token', secret);
  await page.evaluate(
    ([publishableKey, serviceUrl, userToken]) => {
      window.ads.destroy();
      const { Trueward } = window as unknown as { Trueward: { createAds: typeof createAds } };
      // Asked for at each request, as a game does that runs for hours.
      window.ads = Trueward.createAds({ publishableKey, serviceUrl, userToken: () => userToken });
    },
    [stack.keys.sandbox.publishable, stack.serviceUrl, token] as const,
  );
  expect(await showRewarded()).toMatchObject({ outcome: 'rewarded' });
  await expect.poll(() => coins('named-by-token'), watched).toBe(25);
  expect(await coins('somebody')).toBe(0);
});

it('where a placement demands the server, the decision that it hands over is shown and rewarded', async () => {
  await page.reload();
  await demand('server');
  const request = { placement: 'revive', user_ref: 'somebody', formats: ['image'] };
  await expect
    .poll(() => post(page, stack, '/v1/decisions', request), watched)
    .toMatchObject({ code: 'identity_required' });

  const decision = await manage<Decision>('POST', '/v1/decisions', {
    ...request,
    user_ref: 'named-by-server',
  });
  const availability = await page.evaluate(
    (made) => window.ads.preload('revive', { decision: made }),
    decision,
  );
  expect(availability).toEqual({ available: true });
  expect(await showRewarded()).toMatchObject({ outcome: 'rewarded', decisionId: decision.id });
  await expect.poll(() => coins('named-by-server'), watched).toBe(25);
  expect(await coins('somebody')).toBe(0);
});
