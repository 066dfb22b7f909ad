import type { BrowserContext, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { signUserToken } from '../../../src/server/index.ts';
import { createDemand } from '../../../service/test/demo-demand.ts';
import { getResult, show } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';

declare global {
  /** Globals that `pages/wallet.js` defines. */
  interface Window {
    bought(): { id: string; reason: string }[];
    handlerCalls(): string[];
  }
}

describe('a game without a server', () => {
  let stack: Stack;
  let browser: BrowserContext;
  it.beforeAll(async ({ stack: sharedStack, browser: sharedBrowser }) => {
    stack = sharedStack;
    browser = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
    await createDemand({ url: stack.serviceUrl, keys: stack.keys }).addPlacement('Harbour', {
      name: 'wallet-coins',
      format: 'rewarded',
      min_view_ms: 1_000,
      reward: { type: 'coins', amount: 25, credit: 'wallet' },
    });
  });
  it.afterAll(() => browser.close());

  const open = async (query: Record<string, string> = {}): Promise<Page> => {
    const page = await browser.newPage();
    const url = new URL(stack.pageFor(''));
    const { publishable: key } = stack.keys.sandbox;
    const search = new URLSearchParams({ key, service: stack.serviceUrl, ...query });
    await page.goto(`${url.origin}/wallet.html?${search}`);
    return page;
  };
  const balance = (page: Page) => page.evaluate(() => window.ads.wallet.balance('coins'));
  const countBought = (page: Page) => page.evaluate(() => window.bought().length);

  it('has exactly what it paid for after lost answers and crashes', async () => {
    let page = await open();
    await show(page, 'showRewarded', 'wallet-coins');
    const close = page.getByRole('button', { name: 'Close ad' }).first();
    await expect.poll(() => balance(page), { timeout: 30_000 }).toBe(25);
    await close.click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });

    // The service charges the player, but its answer is lost, and the page dies.
    await browser.route('**/v1/wallet/spends', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    const spend = () =>
      page.evaluate(() =>
        window.ads.wallet.spend('coins', 10, { id: 'red-hat', reason: 'red hat' }),
      );
    expect(await spend()).toMatchObject({ outcome: 'pending' });
    await page.close();
    await browser.unrouteAll();

    // The next page gets the answer, but dies before it has saved what the player bought.
    page = await open({ crash: '1' });
    await expect.poll(() => page.evaluate(() => window.handlerCalls().length)).toBe(1);
    await page.close();

    page = await open();
    await expect.poll(() => countBought(page)).toBe(1);
    await expect.poll(() => balance(page)).toBe(15);
    // While the service can't be reached, the game shows what was read before.
    await browser.route('**/v1/wallet*', (route) => route.abort('internetdisconnected'));
    await page.reload();
    await expect.poll(() => balance(page)).toBe(15);
    const readAt = () => page.evaluate(() => window.ads.wallet.readAt()?.getTime() ?? 0);
    const before = await readAt();
    expect(before).toBeGreaterThan(0);
    await browser.unrouteAll();
    await page.reload();
    await expect.poll(readAt).toBeGreaterThan(before);
    expect(await page.evaluate(() => [window.bought(), window.handlerCalls().length])).toEqual([
      [{ id: 'red-hat', reason: 'red hat' }],
      2,
    ]);
    // It can't spend what it doesn't have.
    expect(await page.evaluate(() => window.ads.wallet.spend('coins', 16))).toMatchObject({
      outcome: 'insufficient',
      balance: 15,
    });
    expect(await page.evaluate(() => window.ads.wallet.spend('coins', 15))).toMatchObject({
      outcome: 'spent',
      balance: 0,
    });
    await expect.poll(() => countBought(page)).toBe(2);
    // What is sold once is never paid twice, and can be had again for nothing.
    expect(await spend()).toMatchObject({ outcome: 'spent', balance: 0 });
    await expect.poll(() => page.evaluate(() => window.handlerCalls().length)).toBe(4);
    expect(await countBought(page)).toBe(2);
  });

  it('has the same wallet on a second device, which can be linked by a code', async ({
    browser: sharedBrowser,
  }) => {
    const page = await open();
    await expect
      .poll(() => page.evaluate(() => window.ads.wallet.refresh()))
      .toMatchObject({
        outcome: 'read',
      });
    await show(page, 'showRewarded', 'wallet-coins');
    await expect.poll(() => balance(page), { timeout: 30_000 }).toBe(25);
    await page.getByRole('button', { name: 'Close ad' }).first().click();
    const created = await page.evaluate(() => window.ads.wallet.createLinkCode());
    expect(created).toMatchObject({ outcome: 'created' });
    const code = 'code' in created ? created.code : '';

    const second = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
    const other = await second.newPage();
    await other.goto(page.url());
    const link = (text: string, replace = false) =>
      other.evaluate(
        ([given, isReplacing]) => window.ads.wallet.link(given, { replace: isReplacing }),
        [text, replace] as const,
      );
    expect(await link('0000-0000')).toEqual({ outcome: 'wrong_code' });
    expect(await link('?')).toEqual({ outcome: 'wrong_code' });
    // It has a player of its own, with something in the wallet.
    await show(other, 'showRewarded', 'wallet-coins');
    await expect.poll(() => balance(other), { timeout: 30_000 }).toBe(25);
    await other.getByRole('button', { name: 'Close ad' }).first().click();
    await getResult(other);
    expect(await link(code)).toEqual({ outcome: 'not_empty' });
    expect(await link(code, true)).toEqual({ outcome: 'linked' });
    expect(await balance(other)).toBe(25);
    expect(
      await other.evaluate(() => window.ads.wallet.spend('coins', 20, { reason: 'boots' })),
    ).toMatchObject({ outcome: 'spent', balance: 5 });
    await page.evaluate(() => window.ads.wallet.refresh());
    expect(await balance(page)).toBe(5);
    await other.reload();
    await expect.poll(() => balance(other)).toBe(5);

    // The game gets a server, and the player signs in on the second device.
    const response = await fetch(`${stack.serviceUrl}/v1/user_token_secrets`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.keys.sandbox.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ overlap_s: 86_400 }),
    });
    const { secret } = (await response.json()) as { secret: string };
    const userToken = await signUserToken('ann', secret);
    await other.evaluate(
      (token) => window.ads.setUser({ userToken: token }, { transferRewards: true }),
      userToken,
    );
    await expect.poll(() => balance(other)).toBe(5);
    await page.evaluate(() => window.ads.wallet.refresh());
    expect(await balance(page)).toBe(0);
    await second.close();
  });
});
