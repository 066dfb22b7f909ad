import { promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOutbox, type Outbox, type OutboxDeps } from '../../../src/outbox/outbox.ts';
import { createIndexedDbStore, readAll } from '../../../src/outbox/event-store.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { browserConnectivity, browserPageLifecycle } from '../../../src/platform/page.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { browserLocks } from '../../../src/platform/locks.ts';
import { browserTabChannel } from '../../../src/platform/page.ts';
import { deleteDatabase } from '../../support/delete-database.ts';
import {
  createAdEvent,
  createEventService,
  type EventService,
} from '../../support/event-service.ts';
import { eventually } from '../../support/eventually.ts';

let name: string;
let service: EventService;
const openOutboxes: Outbox[] = [];

/** Opens another tab with the same database, but with its own connection, lock request and channel. */
function openTab(deps: Partial<OutboxDeps> = {}): Outbox {
  const outbox = createOutbox({
    name,
    client: service,
    clock: systemClock,
    random: () => 0,
    newId: newRandomId,
    locks: browserLocks(),
    connectivity: browserConnectivity,
    lifecycle: browserPageLifecycle,
    openTabChannel: browserTabChannel,
    store: createIndexedDbStore({ name, clock: systemClock }),
    ...deps,
  });
  openOutboxes.push(outbox);
  return outbox;
}
const waitForEvents = (count: number) =>
  eventually(() => expect(service.counted).toHaveLength(count));
const countStored = async (): Promise<number> => {
  const store = createIndexedDbStore({ name, clock: systemClock });
  const records = await readAll(store);
  store.close();
  return records.length;
};
const respondUnavailable = async () =>
  ({ kind: 'retry', status: 503, retryAfterMs: 60_000 }) as const;

beforeEach(() => {
  name = `outbox-${newRandomId()}`;
  service = createEventService();
});
afterEach(async () => {
  for (const outbox of openOutboxes.splice(0)) outbox.destroy();
  await deleteDatabase(name);
});

test('records that were added by hand are neither sent nor in the way', async () => {
  const outbox = openTab();
  await outbox.enqueue(createAdEvent('start'));
  await waitForEvents(1);
  const database = await promisifyRequest(indexedDB.open(name));
  const store = database.transaction('events', 'readwrite').objectStore('events');
  for (const key of ['text', [1, 2], new Date(0)]) store.put({ v: 1, events: ['{"id":"x"}'] }, key);
  await promisifyRequest(store.count());
  database.close();
  const second = openTab();
  await second.enqueue(createAdEvent('complete'));
  await waitForEvents(2);
  await second.flush();
  expect(await countStored()).toBe(0);
  expect(second.diagnostics()).toMatchObject({ stored: 0, dropped: {} });
  expect(second.diagnostics().lastError).toBeUndefined();
});

test('stores the events from one task in one transaction before it sends them', async () => {
  const transactions = vi.spyOn(IDBDatabase.prototype, 'transaction');
  const commits = vi.spyOn(IDBTransaction.prototype, 'commit');
  const outbox = openTab();
  await outbox.enqueue(createAdEvent('start'));
  await waitForEvents(1);
  await outbox.flush();
  transactions.mockClear();
  commits.mockClear();
  const enqueues = Array.from({ length: 50 }, () => outbox.enqueue(createAdEvent()));
  // The transaction starts in the task that enqueued the events.
  await Promise.resolve();
  await Promise.resolve();
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  await Promise.all(enqueues);
  const writes = transactions.mock.calls.filter(([, mode]) => mode === 'readwrite');
  expect(writes[0]).toEqual(['events', 'readwrite', { durability: 'relaxed' }]);
  expect(commits).toHaveBeenCalled();
  await waitForEvents(51);
  expect(service.requests.map(({ batch }) => batch.events.length)).toEqual([1, 50]);
});

test('starts the write before the task ends', async () => {
  const outbox = openTab();
  await outbox.enqueue(createAdEvent());
  await waitForEvents(1);
  await outbox.flush();
  const transactionModes: string[] = [];
  const original = IDBDatabase.prototype.transaction;
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    ...parameters
  ) {
    transactionModes.push(`${String(parameters[1])}`);
    return original.apply(this, parameters);
  });
  const done = outbox.enqueue(createAdEvent());
  // All of these microtasks belong to the same task.
  for (let tick = 0; tick < 100; tick += 1) await Promise.resolve();
  expect(transactionModes).toEqual(['readwrite']);
  await done;
});

test('the next page sends stored events with the same ids', async () => {
  service.faults.push(respondUnavailable);
  const outbox = openTab();
  await Promise.all([
    outbox.enqueue(createAdEvent('start')),
    outbox.enqueue(createAdEvent('complete')),
  ]);
  await eventually(() => expect(service.requests).toHaveLength(1));
  outbox.destroy();
  expect(await countStored()).toBe(1);
  openTab();
  await waitForEvents(2);
  const [lost, sent] = service.requests.map(({ batch }) => batch.events.map(({ id }) => id));
  expect(sent).toEqual(lost);
  await eventually(async () => expect(await countStored()).toBe(0));
});

test('two tabs send each event only once between them', async () => {
  const first = openTab();
  await first.enqueue(createAdEvent());
  await waitForEvents(1);
  const second = openTab();
  await second.enqueue(createAdEvent());
  await waitForEvents(2);
  await eventually(() => expect(first.diagnostics().sent + second.diagnostics().sent).toBe(2));
  first.destroy();
  await second.enqueue(createAdEvent());
  await waitForEvents(3);
  await second.flush();
  const ids = service.requests.flatMap(({ batch }) => batch.events.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

test('sends each of thousands of stored events exactly once', async () => {
  service.faults.push(respondUnavailable);
  const outbox = openTab();
  await outbox.enqueue(createAdEvent());
  await eventually(() => expect(service.requests).toHaveLength(1));
  for (let burst = 0; burst < 30; burst++)
    await Promise.all(Array.from({ length: 100 }, () => outbox.enqueue(createAdEvent('midpoint'))));
  outbox.destroy();
  service.requests.length = 0;
  openTab();
  await eventually(() => expect(service.counted).toHaveLength(3_001));
  const ids = service.requests.flatMap(({ batch }) => batch.events.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3_001);
  expect(ids).toHaveLength(3_001);
});

test('recovers when the database is deleted while it is open', async () => {
  const outbox = openTab();
  await outbox.enqueue(createAdEvent());
  await waitForEvents(1);
  await outbox.flush();
  await deleteDatabase(name);
  await outbox.enqueue(createAdEvent());
  await waitForEvents(2);
  expect(outbox.diagnostics().storage).toBe('indexeddb');
});

test('keeps events in memory after closing the database to let a newer release in another tab upgrade it', async () => {
  const outbox = openTab();
  await outbox.enqueue(createAdEvent());
  await waitForEvents(1);
  await outbox.flush();
  const newer = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 2);
    request.onsuccess = () => resolve(request.result);
    request.onblocked = () => reject(new Error('blocked by the older release'));
  });
  await outbox.enqueue(createAdEvent());
  await waitForEvents(2);
  expect(outbox.diagnostics().storage).toBe('memory');
  newer.close();
});

test.each([
  [
    'refuses to open',
    () => ({
      open: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    }),
  ],
  ['never opens', () => ({ open: () => ({}) })],
])('falls back to memory in a browser that %s a database', async (_description, factory) => {
  const clock = {
    ...systemClock,
    after: (ms: number, callback: () => void) => systemClock.after(Math.min(ms, 20), callback),
  };
  const brokenFactory = factory() as unknown as IDBFactory;
  const store = createIndexedDbStore({ name, clock, indexedDB: brokenFactory });
  const outbox = openTab({ store });
  await outbox.enqueue(createAdEvent());
  await waitForEvents(1);
  expect(outbox.diagnostics().storage).toBe('memory');
});
