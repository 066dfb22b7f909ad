import type { ApiKey } from '../../../protocol/wire.ts';
import type { BrowserContext, Page } from 'playwright';
import { expect, inject } from 'vitest';
import { deliveredRewards, getResult, show } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';

const watchTimeout = { timeout: 30_000, interval: 200 };
let stack: Stack;
let browser: BrowserContext;

it.beforeAll(({ stack: sharedStack }) => {
  stack = sharedStack;
});
it.beforeEach(async ({ browser: sharedBrowser }) => {
  browser = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
});
it.afterEach(() => browser.close());

/** Calls the service as the operator of the account. */
async function post(path: string, body: object): Promise<ApiKey> {
  const response = await fetch(stack.serviceUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.keys.sandbox.secret}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as ApiKey;
}
const createGame = (): Promise<ApiKey> => post('/v1/keys', { kind: 'publishable' });

/** Opens a game in its own tab. All games are on the same origin. */
async function open({ key = '' }: ApiKey, { offline = false } = {}): Promise<Page> {
  const page = await browser.newPage();
  if (offline) await cutNetwork(page);
  const url = new URL(stack.pageFor('game-storage'));
  url.searchParams.set('key', key);
  await page.goto(url.href);
  return page;
}

/** Blocks all of the page's requests to the service except ad requests. */
const cutNetwork = (page: Page) =>
  page.route(`${stack.serviceUrl}/v1/**`, (route) =>
    route.request().url().endsWith('/v1/decisions')
      ? route.continue()
      : route.abort('internetdisconnected'),
  );

/** Watches an ad to its end. Returns the decision's id. */
async function watch(page: Page): Promise<string> {
  await show(page, 'showRewarded', 'revive');
  await page.getByText('Your reward is on its way').first().waitFor(watchTimeout);
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  return (await getResult(page))?.decisionId ?? '';
}

const readState = (page: Page) =>
  page.evaluate(async () => {
    const { outbox, rewards } = window.ads.diagnostics();
    return {
      stored: outbox.stored,
      pending: rewards.pending,
      undelivered: rewards.undelivered,
      listed: (await window.ads.rewards()).map(({ decisionId }) => decisionId),
    };
  });
const deliveredIds = async (page: Page) =>
  (await deliveredRewards(page)).map(({ decisionId }) => decisionId);
const empty = { stored: 0, pending: 0, undelivered: 0, listed: [] };

// In a quick run, the browser tests show this: they always have a second game on the origin.
it.runIf(inject('full'))(
  'two games of one account in two tabs of one origin never see each other’s events or rewards',
  async () => {
    const first = await open(await createGame(), { offline: true });
    const firstId = await watch(first);
    expect(await readState(first)).toMatchObject({ pending: 1, listed: [firstId] });
    const second = await open(await createGame());
    const secondId = await watch(second);
    await expect.poll(() => deliveredIds(second), watchTimeout).toEqual([secondId]);
    await expect.poll(() => readState(second), watchTimeout).toEqual(empty);
    // Neither a reload nor the end of the other game’s tab changes that.
    await second.reload();
    const waiting = await readState(first);
    expect(waiting.stored).toBeGreaterThan(0);
    await first.unrouteAll();
    await first.evaluate(() => dispatchEvent(new Event('online')));
    await expect.poll(() => readState(first), watchTimeout).toEqual(empty);
    expect(await readState(second)).toEqual(empty);
    expect(
      await second.evaluate(() => window.ads.diagnostics().outbox.sent),
      'the second tab sent an event of the first game',
    ).toBe(0);
    expect(await deliveredIds(first)).toEqual([secondId, firstId]);
  },
);

it('a key that is rolled while events wait loses neither events nor rewards', async () => {
  const oldKey = await createGame();
  const oldPage = await open(oldKey, { offline: true });
  const decisionId = await watch(oldPage);
  expect((await readState(oldPage)).stored).toBeGreaterThan(0);
  await oldPage.close();
  const page = await open(await post(`/v1/keys/${oldKey.id}/roll`, { overlap_s: 0 }));
  await expect.poll(() => deliveredIds(page), watchTimeout).toEqual([decisionId]);
  await expect.poll(() => readState(page), watchTimeout).toEqual(empty);
});
