import type { BrowserContext, Page } from 'playwright';
import { expect, inject } from 'vitest';
import type { EventBatch, EventBatchResult } from '../../../protocol/wire.ts';
import { verifyReceipt } from '../../../src/server/index.ts';
import {
  closeAd,
  closeControl,
  closeEarly,
  deliveredRewards,
  getResult,
  show,
} from '../browser.ts';
import { speedUp, speedUpPlayback } from '../speed-up.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import {
  copyDatabases,
  type FilledDecision,
  createForgedEvents,
  post,
  fetchStatus,
  recordTraffic,
} from './cheat.ts';

const pollOptions = { timeout: 30_000, interval: 100 };
/**
 * How fast time passes in a cheating page, as a multiple of real time. Where it also applies to the SDK's timeouts, no ad
 * would be shown on a slow machine at a higher speed. `test/property/support/cheats.ts` covers those.
 */
const cheatSpeed = 8;

let stack: Stack;
let browser: BrowserContext;
let player = 0;

it.beforeAll(({ stack: sharedStack }) => {
  stack = sharedStack;
});
// Each test has its own storage. Otherwise, the next test's player could receive rewards that the previous test left
// undelivered.
it.beforeEach(async ({ browser: sharedBrowser }) => {
  browser = await sharedBrowser.newContext();
});
it.afterEach(() => browser.close());

/** Opens a player's page. */
async function open(name: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
  const page = await browser.newPage();
  await prepare?.(page);
  await page.goto(stack.pageFor(name));
  return page;
}
const newPlayer = (): string => `cheat-${(player += 1)}`;
const readCoins = (name: string) => stack.account(name).then((account) => account.coins);
const createTimestamp = () => new Date().toISOString();
const requestDecision = (page: Page, placement: string, name: string): Promise<FilledDecision> =>
  post(page, stack, '/v1/decisions', { placement, user_ref: name });
async function waitForFirst<T>(items: T[]): Promise<T> {
  await expect.poll(() => items.length, pollOptions).toBeGreaterThan(0);
  const [item] = items;
  if (item === undefined) throw new Error('Expected at least one item.');
  return item;
}

it('an honest player earns a reward', async () => {
  const name = newPlayer();
  const page = await open(name);
  await show(page, 'showRewarded', 'revive');
  await expect.poll(() => readCoins(name), pollOptions).toBe(25);
});

it.runIf(inject('full'))(
  'a page that runs at 8 times normal speed is denied the reward',
  async () => {
    const name = newPlayer();
    const page = await open(name, (opened) => speedUp(opened, cheatSpeed));
    const traffic = recordTraffic(page);
    await show(page, 'showRewarded', 'long');
    const { id } = await waitForFirst(traffic.decisions);
    await expect
      .poll(() => fetchStatus(stack, id), pollOptions)
      .toMatchObject({ state: 'denied', reason: 'impossible_timing' });
    expect(await readCoins(name)).toBe(0);
    expect(await deliveredRewards(page)).toEqual([]);
  },
);

it('a video that plays at 8 times normal speed is denied the reward', async () => {
  const name = newPlayer();
  const page = await open(name, (opened) => opened.addInitScript(speedUpPlayback, cheatSpeed));
  const traffic = recordTraffic(page);
  await show(page, 'showRewarded', 'long-film');
  const { id } = await waitForFirst(traffic.decisions);
  await expect.poll(() => fetchStatus(stack, id), pollOptions).toMatchObject({ state: 'denied' });
  await closeAd(page);
  expect((await getResult(page))?.outcome).toMatch(/^(denied|pending)$/);
  expect(await readCoins(name)).toBe(0);
});

it('a script that forges a completion is denied the reward', async () => {
  const name = newPlayer();
  const page = await open(name);
  const decision = await requestDecision(page, 'long', name);
  const report = (token: string) =>
    post<EventBatchResult>(page, stack, '/v1/events', {
      sent_at: createTimestamp(),
      events: createForgedEvents({ ...decision, token }),
    });
  const backdate = (issuedAtMs: string): string => String(Number(issuedAtMs) - 60_000);
  const editedToken = decision.token.replace(/(?<=~)\d{13}(?=~)/, backdate);
  expect(editedToken).not.toBe(decision.token);
  const { results } = await report(editedToken);
  expect(results.map(({ code }) => code)).toEqual(Array(3).fill('token_invalid'));
  expect((await report(decision.token)).decisions).toMatchObject([
    { state: 'denied', reason: 'impossible_timing' },
  ]);
  expect(await readCoins(name)).toBe(0);
});

it('a proxy that turns an early close into a completion earns nothing', async () => {
  const name = newPlayer();
  const page = await open(name);
  const traffic = recordTraffic(page);
  await page.route('**/v1/events', async (route) => {
    const batch = route.request().postDataJSON() as EventBatch;
    const events = batch.events.map((event) =>
      event.type === 'skip' || event.type === 'close'
        ? { ...event, type: 'complete', watched_ms: 12_000 }
        : event,
    );
    await route.continue({ postData: JSON.stringify({ ...batch, events }) });
  });
  await show(page, 'showRewarded', 'long-film');
  await closeEarly(page);
  const { id } = await waitForFirst(traffic.decisions);
  await expect
    .poll(() => fetchStatus(stack, id), pollOptions)
    .toMatchObject({ state: 'denied', reason: 'impossible_timing' });
  expect(await readCoins(name)).toBe(0);
});

it('replaying every request in parallel earns no further reward', async () => {
  const name = newPlayer();
  const page = await open(name);
  const traffic = recordTraffic(page);
  await show(page, 'showRewarded', 'revive');
  await expect.poll(() => readCoins(name), pollOptions).toBe(25);
  const batches = [...traffic.batches];
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => batches)
      .flat()
      .map((batch) => post<EventBatchResult>(page, stack, '/v1/events', batch)),
  );
  const results = responses.flatMap((response) => response.results);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['duplicate']));
  expect((await stack.account(name)).credits).toHaveLength(1);
});

it('simultaneously requested ads earn no more rewards than the elapsed time allows', async () => {
  const name = newPlayer();
  const page = await open(name);
  const startedAtMs = performance.now();
  const decisions = await Promise.all(
    Array.from({ length: 8 }, () => requestDecision(page, 'long', name)),
  );
  await show(page, 'showRewarded', 'revive');
  await expect.poll(() => readCoins(name), pollOptions).toBe(25);
  for (const decision of decisions)
    await post(page, stack, '/v1/events', {
      sent_at: createTimestamp(),
      events: createForgedEvents(decision),
    });
  const statuses = await Promise.all(decisions.map(({ id }) => fetchStatus(stack, id)));
  const earnedCount = statuses.filter(({ state }) => state === 'earned').length;
  // Each ad must be watched for 95% of its five seconds. The service allows a tolerance of two seconds in total.
  const availableMs = performance.now() - startedAtMs + 2_000;
  expect(earnedCount).toBeLessThanOrEqual(Math.floor(availableMs / 4_750));
});

it('editing the ledger with the developer tools does not affect the server', async () => {
  const name = newPlayer();
  const page = await open(name);
  await show(page, 'showRewarded', 'long-film');
  await closeEarly(page);
  const { decisionId = '' } = (await getResult(page)) ?? {};
  await page.evaluate(async (id) => {
    const databases = await indexedDB.databases();
    const ledger = databases.find((database) => database.name?.endsWith(':rewards'));
    await new Promise<void>((resolve) => {
      const openRequest = indexedDB.open(ledger?.name ?? '');
      openRequest.onsuccess = () => {
        const transaction = openRequest.result.transaction('rewards', 'readwrite');
        const store = transaction.objectStore('rewards');
        const getRequest = store.get(id);
        getRequest.onsuccess = () => {
          const reward = { type: 'coins', amount: 1_000_000 };
          const forgedEntry = { ...getRequest.result, state: 'earned', reward, receipt: 'a.b.c' };
          store.put(forgedEntry, id);
        };
        transaction.oncomplete = () => {
          openRequest.result.close();
          resolve();
        };
      };
    });
  }, decisionId);
  await page.reload();
  // Players can always tamper with their own page.
  await expect
    .poll(() => deliveredRewards(page), pollOptions)
    .toMatchObject([{ amount: 1_000_000 }]);
  expect(await readCoins(name)).toBe(0);
  expect(await fetchStatus(stack, decisionId)).toMatchObject({ state: 'none' });
  const keys = `${stack.serviceUrl}/.well-known/jwks.json`;
  await expect(verifyReceipt('a.b.c', keys, { accountId: 'acc_x' })).rejects.toThrow('receipt');
});

it('a device whose storage is restored is credited only once', async () => {
  const name = newPlayer();
  const page = await open(name);
  await page.route('**/v1/events', (route) => route.abort('internetdisconnected'));
  await show(page, 'showRewarded', 'revive');
  await expect
    .poll(() => page.evaluate(() => window.ads.diagnostics().rewards.pending), pollOptions)
    .toBe(1);
  const savedDatabases = await copyDatabases(page);
  await page.unrouteAll();
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await expect.poll(() => readCoins(name), pollOptions).toBe(25);
  await closeControl(page).click();
  await expect.poll(() => deliveredRewards(page), pollOptions).toHaveLength(1);
  const traffic = recordTraffic(page);
  await savedDatabases.restore();
  await page.reload();
  // The page sends all its events again, and its reward is delivered again. The game server credits each decision only
  // once.
  await waitForFirst(traffic.batches);
  await expect.poll(() => deliveredRewards(page), pollOptions).toHaveLength(2);
  const [delivery, repeatedDelivery] = await deliveredRewards(page);
  expect(repeatedDelivery?.decisionId).toBe(delivery?.decisionId);
  expect((await stack.account(name)).credits).toHaveLength(1);
});
