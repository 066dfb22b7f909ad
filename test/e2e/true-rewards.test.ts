import type { BrowserContext, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { closeAd, closeControl, closeEarly, deliveredRewards, getResult, show } from './browser.ts';
import type { Stack } from './stack.ts';
import { it } from './worker.ts';

const watchTimeout = { timeout: 30_000, interval: 200 };

describe('a player', () => {
  let stack: Stack;
  let browser: BrowserContext;
  let player = 0;

  it.beforeAll(({ stack: sharedStack }) => {
    stack = sharedStack;
  });
  it.beforeEach(async ({ browser: sharedBrowser }) => {
    browser = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
  });
  it.afterEach(() => browser.close());

  const newPlayer = (): string => `true-rewards-${(player += 1)}`;
  const open = async (name: string): Promise<Page> => {
    const page = await browser.newPage();
    await page.goto(stack.pageFor(name));
    return page;
  };
  /** Blocks all requests to the service except ad requests. */
  const cutNetwork = () =>
    browser.route(`${stack.serviceUrl}/v1/**`, (route) =>
      route.request().url().endsWith('/v1/decisions')
        ? route.continue()
        : route.abort('internetdisconnected'),
    );

  it('is credited once for an ad watched to the end', async () => {
    const name = newPlayer();
    const page = await open(name);
    await show(page, 'showRewarded', 'film');
    await expect.poll(() => stack.account(name).then(({ coins }) => coins), watchTimeout).toBe(25);
    await closeControl(page).click();
    const result = await getResult(page);
    expect(result).toMatchObject({ outcome: 'rewarded', reward: { type: 'coins', amount: 25 } });
    await expect
      .poll(() => deliveredRewards(page))
      .toEqual([{ decisionId: result?.decisionId, type: 'coins', amount: 25 }]);
    expect(await stack.account(name)).toMatchObject({
      coins: 25,
      credits: [{ decisionId: result?.decisionId }],
    });
  });

  it('earns no reward for an ad that is closed early', async () => {
    const name = newPlayer();
    const page = await open(name);
    await show(page, 'showRewarded', 'long-film');
    await closeEarly(page);
    const result = await getResult(page);
    expect(result).toMatchObject({ outcome: 'dismissed' });
    await page.evaluate((id) => window.ads.rewardStatus(id), result?.decisionId ?? '');
    const status = await fetch(`${stack.serviceUrl}/v1/decisions/${result?.decisionId}`, {
      headers: { authorization: `Bearer ${stack.keys.sandbox.secret}` },
    });
    expect(await status.json()).toMatchObject({ state: 'none' });
    expect(await stack.account(name)).toMatchObject({ coins: 0, credits: [] });
    expect(await deliveredRewards(page)).toEqual([]);
  });

  it('receives the reward for an offline completion once, after a reload', async () => {
    const name = newPlayer();
    const page = await open(name);
    await cutNetwork();
    await show(page, 'showRewarded', 'revive');
    // A pending reward proves that the ad was watched.
    await expect
      .poll(() => page.evaluate(() => window.ads.diagnostics().rewards.pending), watchTimeout)
      .toBe(1);
    await closeControl(page).click();
    expect(await getResult(page)).toMatchObject({ outcome: 'pending' });
    await page.reload();
    await expect
      .poll(() => page.evaluate(() => window.ads.rewards()))
      .toMatchObject([{ state: 'pending', reward: { amount: 25 } }]);
    expect(await stack.account(name)).toMatchObject({ coins: 0 });

    await browser.unrouteAll();
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect.poll(() => deliveredRewards(page), watchTimeout).toHaveLength(1);
    await expect.poll(() => stack.account(name).then(({ coins }) => coins), watchTimeout).toBe(25);
    await page.reload();
    await expect.poll(() => page.evaluate(() => window.ads.rewards())).toEqual([]);
    expect(await deliveredRewards(page)).toHaveLength(1);
  });

  it('does not lose the reward if the service is killed and restarted during the ad', async () => {
    const name = newPlayer();
    const page = await open(name);
    await show(page, 'showRewarded', 'long');
    await closeControl(page).waitFor();
    await stack.killService();
    try {
      await expect
        .poll(() => page.evaluate(() => window.ads.diagnostics().rewards.pending), watchTimeout)
        .toBe(1);
    } finally {
      // Other test files use the same service.
      await stack.restartService();
    }
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect.poll(() => stack.account(name).then(({ coins }) => coins), watchTimeout).toBe(25);
    await closeAd(page);
    expect(['rewarded', 'pending']).toContain((await getResult(page))?.outcome);
    await expect.poll(() => deliveredRewards(page), watchTimeout).toHaveLength(1);
    expect((await stack.account(name)).credits).toHaveLength(1);
  });

  it('earns one reward when the game is open in two tabs', async () => {
    const name = newPlayer();
    const firstTab = await open(name);
    const secondTab = await open(name);
    await firstTab.bringToFront();
    await show(firstTab, 'showRewarded', 'revive');
    await expect.poll(() => stack.account(name).then(({ coins }) => coins), watchTimeout).toBe(25);
    await closeControl(firstTab).click();
    await getResult(firstTab);
    await expect.poll(() => deliveredRewards(firstTab)).toHaveLength(1);
    await secondTab.reload();
    await secondTab.evaluate(() => window.ads.rewards());
    expect(await deliveredRewards(secondTab)).toHaveLength(1);
    expect((await stack.account(name)).credits).toHaveLength(1);
  });
});
