import type { Page, Request } from 'playwright';
import type { AdEvent, Decision, EventBatch, RewardStatus } from '../../../protocol/wire.ts';
import type { Stack } from '../stack.ts';

export type FilledDecision = Decision & { token: string };

/** Fetches a decision's reward status the way the customer's server would. */
export async function fetchStatus(stack: Stack, decisionId: string): Promise<RewardStatus> {
  const response = await fetch(`${stack.serviceUrl}/v1/decisions/${decisionId}`, {
    headers: { authorization: `Bearer ${stack.keys.sandbox.secret}` },
  });
  return (await response.json()) as RewardStatus;
}

const isEventsRequest = (request: Request): boolean =>
  request.method() === 'POST' && request.url().endsWith('/v1/events');

/** Records a page's requests to the service, as a player could with the developer tools. */
export function recordTraffic(page: Page): { decisions: FilledDecision[]; batches: EventBatch[] } {
  const decisions: FilledDecision[] = [];
  const batches: EventBatch[] = [];
  page.on('request', (request) => {
    if (isEventsRequest(request)) batches.push(request.postDataJSON() as EventBatch);
  });
  page.on('response', (response) => {
    if (response.request().method() !== 'POST' || !response.url().endsWith('/v1/decisions')) return;
    response.json().then(
      (decision: FilledDecision) => decisions.push(decision),
      // Ignored: the page was closed before the response was read. A test that needs the decision fails anyway.
      () => undefined,
    );
  });
  return { decisions, batches };
}

/** Sends a `POST` request from the page, with the page's origin and key. */
export const post = <T>(page: Page, stack: Stack, path: string, body: object): Promise<T> =>
  page.evaluate(
    async ([url, key, text]) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: text,
      });
      return (await response.json()) as T;
    },
    [`${stack.serviceUrl}${path}`, stack.keys.sandbox.publishable, JSON.stringify(body)] as const,
  );

/** Creates the events that a script would forge for a complete ad view. */
export function createForgedEvents({ id, token }: FilledDecision, endedMs = Date.now()): AdEvent[] {
  const createBase = (beforeMs: number) => ({
    id: crypto.randomUUID(),
    decision_id: id,
    token,
    occurred_at: new Date(endedMs - beforeMs).toISOString(),
  });
  return [
    { ...createBase(5_000), type: 'start' },
    { ...createBase(4_000), type: 'impression', visible: { ratio: 1, ms: 1_000 } },
    { ...createBase(0), type: 'complete', watched_ms: 5_000 },
  ];
}

/** Copies the contents of the page's databases, so that the test can restore them later. */
export async function copyDatabases(page: Page): Promise<{ restore(): Promise<void> }> {
  const copy = await page.evaluateHandle(async () => {
    const waitForResult = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(new Error(String(request.error)));
      });
    const open = (name: string) => waitForResult(indexedDB.open(name));
    const stores: { name: string; store: string; keys: IDBValidKey[]; values: unknown[] }[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await open(name);
      for (const store of database.objectStoreNames) {
        const source = database.transaction(store).objectStore(store);
        const keys = await waitForResult(source.getAllKeys());
        const values = await waitForResult(source.getAll());
        stores.push({ name, store, keys, values });
      }
      database.close();
    }
    return async () => {
      for (const { name, store, keys, values } of stores) {
        const database = await open(name);
        const target = database.transaction(store, 'readwrite').objectStore(store);
        await waitForResult(target.clear());
        for (const [index, key] of keys.entries())
          await waitForResult(target.put(values[index], key));
        database.close();
      }
    };
  });
  return { restore: () => copy.evaluate((restore) => restore()) };
}
