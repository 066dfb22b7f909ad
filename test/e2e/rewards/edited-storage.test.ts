import type { BrowserContext, Page } from 'playwright';
import { expect } from 'vitest';
import type { Wallet } from '../../../protocol/wire.ts';
import { createDemand } from '../../../service/test/demo-demand.ts';
import { closeControl, getResult, show } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import { createForgedEvents, fetchStatus, type FilledDecision, post } from './cheat.ts';

const pollOptions = { timeout: 30_000, interval: 100 };
const placement = 'edited-coins';

let stack: Stack;
let browser: BrowserContext;
const pageErrors: string[] = [];
it.beforeAll(async ({ stack: sharedStack, browser: sharedBrowser }) => {
  stack = sharedStack;
  browser = await sharedBrowser.newContext({ viewport: { width: 800, height: 600 } });
  await createDemand({ url: stack.serviceUrl, keys: stack.keys }).addPlacement('Harbour', {
    name: placement,
    format: 'rewarded',
    min_view_ms: 1_000,
    reward: { type: 'coins', amount: 25, credit: 'wallet' },
  });
});
it.afterAll(() => browser.close());

async function open(): Promise<Page> {
  const page = await browser.newPage();
  page.on('pageerror', (error) => pageErrors.push(String(error)));
  const { publishable: key } = stack.keys.sandbox;
  const search = new URLSearchParams({ key, service: stack.serviceUrl });
  await page.goto(`${new URL(stack.pageFor('')).origin}/wallet.html?${search}`);
  return page;
}
const balance = (page: Page) => page.evaluate(() => window.ads.wallet.balance('coins'));
async function watch(page: Page): Promise<void> {
  const before = await balance(page);
  await show(page, 'showRewarded', placement);
  await expect.poll(() => balance(page), pollOptions).toBe(before + 25);
  await closeControl(page).click();
  expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
}
/** Reads the wallet as the game's developer sees it. */
async function readWallet(playerRef: string | undefined): Promise<Wallet['balances']> {
  const response = await fetch(`${stack.serviceUrl}/v1/wallets/${playerRef}`, {
    headers: { authorization: `Bearer ${stack.keys.sandbox.secret}` },
  });
  return ((await response.json()) as Wallet).balances;
}

/** A record on the device, and where it is. */
interface StoredItem {
  database: string;
  store: string;
  key: IDBValidKey;
  value: unknown;
}

/** Runs an edit in the page for every record that the SDK stores. It returns the records to put there instead. */
const editDatabases = (page: Page, edit: string): Promise<number> =>
  page.evaluate(async (source) => {
    // oxlint-disable-next-line typescript/no-implied-eval -- Playwright passes only data to a page.
    const change = new Function('item', 'index', source) as (
      item: StoredItem,
      index: number,
    ) => StoredItem[];
    const settle = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(new Error(String(request.error)));
      });
    let count = 0;
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await settle(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const target = database.transaction(store, 'readwrite').objectStore(store);
        const [keys, values] = [await settle(target.getAllKeys()), await settle(target.getAll())];
        // An empty store gets something too.
        for (const [index, key] of (keys.length > 0 ? keys : [1]).entries())
          for (const item of change({ database: name, store, key, value: values[index] }, index)) {
            await settle(target.put(item.value, item.key));
            count += 1;
          }
      }
      database.close();
    }
    return count;
  }, edit);

it('a player who edits what the SDK stores gets nothing that the service does not confirm, and breaks nothing', async () => {
  let page = await open();
  await watch(page);
  const playerRef = await page.evaluate(() => window.ads.wallet.playerRef());
  expect(await readWallet(playerRef)).toEqual({ coins: 25 });

  // Records that are valid, but invented: a reward, a balance, spends, and the events of an ad that nobody watched.
  const decision = await post<FilledDecision>(page, stack, '/v1/decisions', {
    placement: 'long-film',
    user_ref: 'somebody',
  });
  const events = createForgedEvents(decision).map((event) => JSON.stringify(event));
  const spend = { v: 1, ref: playerRef, type: 'coins' };
  await editDatabases(
    page,
    `const rich = (value) => JSON.parse(JSON.stringify(value), (name, member) =>
       name === 'amount' || name === 'coins' ? 1e6 : name === 'state' ? 'earned' : member);
     const add = (key, value) => ({ ...item, key, value });
     if (item.store === 'events') return [add(1e6, { v: 1, events: ${JSON.stringify(events)} })];
     if (item.store === 'spends') return [
       add('a', { ...${JSON.stringify(spend)}, id: crypto.randomUUID(), amount: 1e6, charged: false }),
       add('b', { ...${JSON.stringify(spend)}, id: crypto.randomUUID(), amount: -1e6, charged: false }),
     ];
     return item.value === undefined ? [] : [add(item.key, rich(item.value))];`,
  );
  await page.close();
  page = await open();
  await expect
    .poll(() => page.evaluate(() => window.ads.wallet.refresh()), pollOptions)
    .toMatchObject({ outcome: 'read' });
  await expect.poll(() => balance(page), pollOptions).toBe(25);
  expect(await page.evaluate(() => window.ads.wallet.spend('coins', 26))).toMatchObject({
    outcome: 'insufficient',
    balance: 25,
  });
  await expect
    .poll(() => page.evaluate(() => window.ads.diagnostics().outbox.stored), pollOptions)
    .toBe(0);
  expect((await fetchStatus(stack, decision.id)).state).not.toBe('earned');
  expect(await readWallet(playerRef)).toEqual({ coins: 25 });

  // Records that are no longer what they were, and others among them.
  const edited = await editDatabases(
    page,
    `const junk = [null, 'text', 42, NaN, [], {}, new Date(NaN), new Blob(['a']), new Map([[{}, 1]]),
       { v: 1 }, { v: 1, events: ['{', 'null', '{"id":{}}', '[]'] }, { v: 1, events: { length: 1e9 } },
       { ref: 'a\\nb', token: 'a\\r\\nb' }, { v: 1, id: 'x', ref: 'ply_x', type: '__proto__', amount: 1 },
       { ...item.value, state: 'none', decisionId: '__proto__', trackedAt: 1e308, version: 1e308 },
       JSON.parse('{"__proto__":{"state":"earned"},"ref":"x","balances":{"__proto__":1},"ends":{},"offsetMs":1e308,"version":1}')];
     const add = (key, value) => ({ ...item, key, value });
     const others = index > 0 ? [] : junk.map((value, place) =>
       add(item.store === 'events' ? 2e6 + place : [place, 'x'], value));
     return [add(item.key, junk[(index + item.store.length) % junk.length]), ...others];`,
  );
  expect(edited).toBeGreaterThan(40);
  await page.evaluate(() => {
    for (const name of Object.keys(localStorage))
      if (/trueward/i.test(name)) localStorage.setItem(name, '{"shown":[{}],"__proto__":null}');
  });
  await page.close();
  page = await open();
  // The device has a new guest, who can watch an ad like any other.
  await watch(page);
  const newRef = await page.evaluate(() => window.ads.wallet.playerRef());
  expect([await readWallet(newRef), await readWallet(playerRef)]).toEqual([
    { coins: 25 },
    { coins: 25 },
  ]);
  expect(pageErrors).toEqual([]);
});
