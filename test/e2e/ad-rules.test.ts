import type { Page } from 'playwright';
import { afterEach, expect, inject } from 'vitest';
import type { AdRule, AdRuleRequest, Decision } from '../../protocol/wire.ts';
import { createDemand } from '../../service/test/demo-demand.ts';
import { signUserToken } from '../../src/server/index.ts';
import { closeControl, getResult, show } from './browser.ts';
import { allowSkips } from './speed-up.ts';
import type { Stack } from './stack.ts';
import { it } from './worker.ts';

// The real service, SDK and demo obey ad rules in a real browser. The demo contains no code for them.

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

/** The operator. Rules are deleted after the test. */
function operate(stack: Stack) {
  const { call } = createDemand({ url: stack.serviceUrl, keys: stack.keys });
  return {
    call,
    async add(rule: AdRuleRequest): Promise<AdRule> {
      const created = await call<AdRule>('POST', 'ad-rules', rule);
      cleanups.push(() => call('DELETE', `ad-rules/${created.id}`));
      return created;
    },
    change: ({ id }: AdRule, change: object) => call<AdRule>('PATCH', `ad-rules/${id}`, change),
  };
}

/** Counts the page's requests for an ad in this placement. */
function countRequests(page: Page, placement: string): () => number {
  let count = 0;
  page.on('request', (request) => {
    const isForAd = request.method() === 'POST' && request.url().endsWith('/v1/decisions');
    const body = isForAd ? (request.postDataJSON() as { placement: string }) : undefined;
    if (body?.placement === placement) count += 1;
  });
  return () => count;
}

it('the device knows the exact time, also offline after a reload, and whom no ad is for', async ({
  browser,
  stack,
}) => {
  const operator = operate(stack);
  await operator.add({ formats: ['interstitial'], gap_s: 3_600 });
  const context = await browser.newContext();
  cleanups.push(() => context.close());
  const page = await context.newPage();
  const requests = countRequests(page, 'level-end');
  await page.goto(stack.pageFor('ad-rules'));
  const hasImpression = page.waitForRequest(
    (request) =>
      request.url().endsWith('/v1/events') && (request.postData() ?? '').includes('"impression"'),
  );
  await show(page, 'showInterstitial', 'level-end');
  await hasImpression;
  await closeControl(page).click();
  expect(await getResult(page)).toMatchObject({ outcome: 'completed' });

  const ask = () =>
    page.evaluate(() => {
      const { outcome, retryAt } = window.ads.availability('level-end');
      const atMs = retryAt?.getTime() ?? 0;
      return { outcome, canShow: window.ads.canShow('level-end'), atMs, waitMs: atMs - Date.now() };
    });
  const held = { outcome: 'frequency_capped', canShow: false };
  const first = await ask();
  expect(first).toMatchObject(held);
  expect(first.waitMs).toBeGreaterThan(0);
  expect(first.waitMs).toBeLessThanOrEqual(3_600_000);
  await page.reload();
  await context.setOffline(true);
  const afterReload = await ask();
  expect(afterReload).toMatchObject(held);
  // Two clocks make the time, between which a busy machine may pause.
  expect(Math.abs(afterReload.atMs - first.atMs)).toBeLessThan(5_000);
  const showAgain = () => page.evaluate(() => window.ads.showInterstitial('level-end'));
  expect(await showAgain()).toMatchObject({ outcome: 'frequency_capped' });

  const { secret } = await operator.call<{ secret: string }>('POST', 'user_token_secrets', {
    overlap_s: 60,
  });
  const userToken = await signUserToken('ad-rules', secret, { adFree: true });
  const isAdFree = (token: string) =>
    page.evaluate((given) => {
      window.ads.setUser({ userToken: given });
      return window.ads.isAdFree();
    }, token);
  expect(await isAdFree(userToken)).toBe(true);
  expect(await showAgain()).toEqual({ outcome: 'ad_free', reason: 'ad_free' });
  expect(requests()).toBe(1);
  // The service agrees, and rewarded ads stay.
  await context.setOffline(false);
  const decide = (placement: string, token: string) =>
    operator.call<Decision>('POST', 'decisions', { placement, user_token: token });
  expect(await decide('level-end', userToken)).toMatchObject({ reason: 'ad_free' });
  expect(await decide('revive', userToken)).toMatchObject({ status: 'filled' });
  expect(await isAdFree(await signUserToken('ad-rules', secret))).toBe(false);
});

it.runIf(inject('full'))(
  'the demo shows no interstitial in the first minute or after a rewarded ad, and obeys a changed rule',
  async ({ browser, stack }) => {
    const operator = operate(stack);
    await operator.add({ formats: ['interstitial'], first_after_s: 60, gap_s: 120 });
    const afterRewarded = await operator.add({
      formats: ['interstitial'],
      gap_s: 60,
      gap_after: ['rewarded'],
    });
    const betweenRewarded = await operator.add({ formats: ['rewarded'], gap_s: 85 });
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    cleanups.push(() => context.close());
    const page = await context.newPage();
    await page.addInitScript(allowSkips);
    const requests = countRequests(page, 'level-end');
    await page.goto(`${stack.gameServerUrl}/?seed=7`);

    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const expectText = (selector: string) =>
      expect.poll(() => page.locator(selector).textContent(), { timeout: 40_000, interval: 100 });
    const lastOutcome = '[data-testid="last-outcome"]';
    /** Plays until the flame goes out. */
    const play = async (start: string): Promise<void> => {
      await button(start).click();
      await button('Revive').waitFor({ state: 'hidden' });
      await button('Revive').waitFor();
    };
    const isAdOpen = () => page.getByText('Advertisement', { exact: true }).isVisible();
    /** An ad ignores presses for a moment after it opens, so a player presses again. */
    const closeAd = () =>
      expect
        .poll(async () => {
          if (await closeControl(page).isVisible()) await closeControl(page).click();
          return isAdOpen();
        })
        .toBe(false);
    const watch = async (offer: string): Promise<void> => {
      await page.locator(`${offer}:enabled`).click();
      await page.getByText('Your reward is on its way').first().waitFor();
      await closeAd();
    };
    /** Returns when the offer says that the next ad may be watched, in seconds. */
    const readRetryAt = (note: string): Promise<number> =>
      page.locator(note).evaluate((element) => {
        const [, seconds = 'NaN'] =
          /^That was the last ad for now\. Try again in (\d+) s\.$/.exec(element.textContent) ?? [];
        return Date.now() / 1_000 + Number(seconds);
      });

    // The first minute. After every second run, the demo asks for an interstitial.
    await play('Play');
    await play('Play again');
    await button('Play again').click();
    await expectText(lastOutcome).toBe('level-end: frequency_capped');
    await button('Revive').waitFor({ state: 'hidden' });
    await button('Revive').waitFor();
    const firstRequests = requests();

    // After the first minute, a rewarded ad holds the interstitial back, and the next rewarded one.
    await page.evaluate(() => window.skip(60_000));
    await watch('#revive');
    await expectText(lastOutcome).toBe('revive: rewarded');
    await button('Revive').waitFor({ state: 'hidden' });
    await expectText('#revive-note').toBe('Once per run');
    await button('Lobby').click();
    await expectText(lastOutcome).toBe('level-end: frequency_capped');
    expect(requests()).toBe(firstRequests);
    await expectText('#treasure-note').toMatch(
      /^That was the last ad for now\. Try again in \d+ s/,
    );
    expect(await page.locator('#treasure').isDisabled()).toBe(true);
    const retryAt = await readRetryAt('#treasure-note');

    // After a reload, it takes no answer from the service to know the time.
    await page.route('**/v1/decisions', (route) => route.abort());
    await page.reload();
    await button('Play').waitFor();
    await expectText('#treasure-note').toMatch(/Try again in \d+ s/);
    expect(Math.abs((await readRetryAt('#treasure-note')) - retryAt)).toBeLessThan(2);
    await page.unroute('**/v1/decisions');

    // The operator relaxes the rules. The device learns it with the next answer, which is for the lobby's banner.
    await operator.change(afterRewarded, { gap_s: 1 });
    await operator.change(betweenRewarded, { gap_s: 1 });
    await operator.add({ formats: ['interstitial', 'banner'], ad_free_with: 'double_sparks' });
    await button(/^Shop/).click();
    await button('Back').click();
    await expectText('#treasure-note').toBe('Watch a short ad for 40 coins');
    await play('Play');
    await play('Play again');
    await button('Lobby').click();
    await expect.poll(isAdOpen).toBe(true);
    await closeAd();
    await expectText(lastOutcome).toBe('level-end: completed');

    // A timed reward in the wallet frees the player from ads.
    await expect.poll(() => page.locator('#banner img').count()).toBe(1);
    await button(/^Shop/).click();
    await watch('#sparks-ad');
    await expectText('#sparks-left').toMatch(/count double/);
    const answer = page.waitForResponse(
      (response) =>
        response.url().endsWith('/v1/decisions') &&
        (response.request().postData() ?? '').includes('"lobby"'),
    );
    await button('Back').click();
    expect(await (await answer).json()).toMatchObject({ status: 'no_fill', reason: 'ad_free' });
    expect(await page.locator('#banner img').count()).toBe(0);
  },
);
