import { expect, test } from 'vitest';
import { createDeferred } from '../../support/deferred.ts';
import { createAdEvent } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser, countRecords } from './open-browser.ts';

/** Creates a browser whose database opens when `opened` resolves. */
function openSlowBrowser() {
  const browser = openBrowser();
  const opened = createDeferred();
  const { store } = browser;
  let onSlow = (): void => {};
  const openTab = () =>
    browser.openTab({
      store: {
        ...store,
        onSlow: (listener) => (onSlow = listener),
        append(records) {
          const cancelCheck = browser.clock.after(1_000, () => onSlow());
          return opened.promise.then(() => {
            cancelCheck();
            return store.append(records);
          });
        },
        read: (after) => opened.promise.then(() => store.read(after)),
        close: () => undefined,
      },
    });
  return { ...browser, opened, openTab };
}

test('sends events from memory while the database opens, with their original times', async () => {
  const { clock, opened, service, store, openTab } = openSlowBrowser();
  const { outbox } = openTab();
  const startedAtMs = clock.now();
  void outbox.enqueue(createAdEvent('start'));
  await clock.advance(1_000);
  expect(service.counted).toHaveLength(1);
  void outbox.enqueue(createAdEvent('midpoint'));
  await clock.advance(1_000);
  const stored = outbox.enqueue(createAdEvent('complete'));
  await clock.advance(1_000);
  const sentEvents = service.requests.flatMap(({ batch }) => batch.events);
  expect(sentEvents.map(({ type }) => type)).toEqual(['start', 'midpoint', 'complete']);
  expect(sentEvents.map((event) => Date.parse(event.occurred_at) - startedAtMs)).toEqual([
    0, 1_000, 2_000,
  ]);
  opened.resolve();
  await stored;
  await outbox.flush();
  // The events were stored and then removed. They were not sent again.
  expect(service.requests).toHaveLength(3);
  expect(await countRecords(store)).toBe(0);
  expect(outbox.diagnostics()).toMatchObject({ storage: 'indexeddb', stored: 0, sent: 3 });
  expect(clock.timers()).toBe(0);
});

test('sends each remaining event once after the database opens', async () => {
  const { clock, opened, service, openTab } = openSlowBrowser();
  const { outbox } = openTab();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 10_000 }));
  void outbox.enqueue(createAdEvent('start'));
  await clock.advance(1_000);
  const stored = outbox.enqueue(createAdEvent('complete'));
  await clock.advance(1_000);
  expect(service.counted).toEqual([]);
  opened.resolve();
  await stored;
  await clock.advance(11_000);
  expect(service.counted).toEqual(['event-0001', 'event-0002']);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 2 });
});

test('sends a page’s events when the page is hidden while the database opens', async () => {
  const { service, openTab } = openSlowBrowser();
  const { outbox, lifecycle } = openTab();
  void outbox.enqueue(createAdEvent('start'));
  await runPendingWork();
  expect(service.requests).toEqual([]);
  lifecycle.emit('hidden');
  await runPendingWork();
  expect(service.requests).toMatchObject([{ keepalive: true }]);
});

test('a delayed event keeps its timestamp and its position', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox } = openTab();
  const storable = createDeferred();
  const startedAtMs = clock.now();
  void outbox.enqueue(createAdEvent('complete'), storable.promise);
  await clock.advance(3_000);
  expect(service.counted).toEqual([]);
  void outbox.enqueue(createAdEvent('close'), storable.promise);
  storable.resolve();
  await runPendingWork();
  const sentEvents = service.requests.flatMap(({ batch }) => batch.events);
  expect(
    sentEvents.map(({ type, occurred_at: at }) => [type, Date.parse(at) - startedAtMs]),
  ).toEqual([
    ['complete', 0],
    ['close', 3_000],
  ]);
});
