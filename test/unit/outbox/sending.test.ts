import { expect, test } from 'vitest';
import { createDeferred } from '../../support/deferred.ts';
import { createAdEvent, type EventService } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { readAll } from '../../../src/outbox/event-store.ts';
import { openBrowser, countRecords } from './open-browser.ts';

/** Length of an event in the store, in UTF-16 code units, if its detail is empty. */
const emptyLength = JSON.stringify({
  ...createAdEvent('error', ''),
  id: 'event-0001',
  occurred_at: new Date(0).toISOString(),
}).length;

test('sends the events from one task in one request and then empties the store', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const { outbox } = openTab();
  await Promise.all([1, 2, 3].map(() => outbox.enqueue(createAdEvent())));
  await outbox.flush();
  await runPendingWork();
  expect(service.requests).toHaveLength(1);
  expect(service.counted).toEqual(['event-0001', 'event-0002', 'event-0003']);
  expect(await countRecords(store)).toBe(0);
  expect(clock.timers()).toBe(0);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 3, dropped: {}, rejected: {} });
});

const batchSizes = ({ requests }: EventService): number[] =>
  requests.map(({ batch }) => batch.events.length);
const storedEvent = (id: string, detail?: string) => ({
  v: 1 as const,
  events: [JSON.stringify({ ...createAdEvent('start', detail), id })],
});

test('sends a large backlog in few requests', async () => {
  const { service, store, openTab } = openBrowser();
  await store.append(Array.from({ length: 2_000 }, (_, index) => storedEvent(`old-${index}`)));
  const { outbox } = openTab();
  await outbox.flush();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(batchSizes(service)).toEqual([500, 500, 500, 500, 1]);
  expect(new Set(service.counted).size).toBe(2_001);
});

test('sends at most 250,000 characters of events per request', async () => {
  const { service, store, openTab } = openBrowser();
  const long = 'x'.repeat(3_000);
  await store.append(Array.from({ length: 400 }, (_, index) => storedEvent(`old-${index}`, long)));
  const { outbox } = openTab();
  await outbox.flush();
  await runPendingWork();
  expect(service.counted).toHaveLength(400);
  const lengths = service.requests.map(({ batch }) => JSON.stringify(batch.events).length);
  expect(Math.max(...lengths)).toBeGreaterThan(200_000);
  expect(Math.max(...lengths)).toBeLessThan(252_000);
});

test('the first request after a failure contains few events', async () => {
  const { clock, service, store, openTab } = openBrowser();
  await store.append(Array.from({ length: 1_200 }, (_, index) => storedEvent(`old-${index}`)));
  service.faults.push(undefined, async () => ({ kind: 'unreachable', cause: 'network' }));
  openTab();
  await clock.advance(1_000);
  expect(batchSizes(service)).toEqual([500, 500, 25, 500, 175]);
  expect(service.counted).toHaveLength(1_200);
});

test('a record with more events than the first request after a failure may have is sent whole', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const events = Array.from({ length: 64 }, (_, index) => storedEvent(`old-${index}`).events[0]);
  await store.append([{ v: 1, events: events.map(String) }, storedEvent('last')]);
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  openTab();
  await clock.advance(2_000);
  expect(batchSizes(service)).toEqual([65, 64, 1]);
  expect(service.counted).toHaveLength(65);
});

test('sends a batch again with the same event ids if its response was lost', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const { outbox } = openTab();
  service.faults.push(async (batch) => {
    service.accept(batch);
    return { kind: 'unreachable', cause: 'network' };
  });
  await outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  expect(await countRecords(store)).toBe(1);
  await clock.advance(1_000);
  const [first, second] = service.requests.map(({ batch }) => batch);
  expect(second?.events).toEqual(first?.events);
  expect(second?.sent_at).not.toBe(first?.sent_at);
  expect(service.counted).toEqual(['event-0001']);
  expect(await countRecords(store)).toBe(0);
});

test('reads the next records while a batch is in flight', async () => {
  const { service, store, openTab } = openBrowser();
  await store.append(Array.from({ length: 600 }, (_, index) => storedEvent(`old-${index}`)));
  const reads: { after: number; requests: number }[] = [];
  const read: typeof store.read = (after) => {
    reads.push({ after, requests: service.requests.length });
    return store.read(after);
  };
  openTab({ store: { ...store, read, close: () => undefined } });
  await runPendingWork();
  expect(batchSizes(service)).toEqual([500, 100]);
  // The first request is in flight.
  expect(reads).toContainEqual({ after: 500, requests: 1 });
});

test('when the page is closed, sends recent events in a keepalive request within the keepalive quota', async () => {
  const { service, store, openTab } = openBrowser();
  const { outbox, lifecycle } = openTab();
  const unblocked = createDeferred();
  service.faults.push(async (batch) => {
    await unblocked.promise;
    return service.accept(batch);
  });
  await outbox.enqueue(createAdEvent('start'));
  await runPendingWork();
  const long = 'x'.repeat(200);
  const stored = Array.from({ length: 80 }, () => outbox.enqueue(createAdEvent('complete', long)));
  lifecycle.emit('leaving');
  const [inFlight, keepaliveRequest] = service.requests;
  expect(inFlight?.batch.events).toHaveLength(1);
  expect(keepaliveRequest?.keepalive).toBe(true);
  expect(JSON.stringify(keepaliveRequest?.batch).length).toBeLessThan(16_000);
  expect(keepaliveRequest?.batch.events.at(-1)?.id).toBe('event-0081');
  await Promise.all(stored);
  unblocked.resolve();
  lifecycle.emit('returned');
  await runPendingWork();
  await runPendingWork();
  expect(service.counted).toHaveLength(81);
  const sentIds = service.requests.flatMap(({ batch }) => batch.events.map(({ id }) => id));
  expect(sentIds).toHaveLength(81);
  expect(await countRecords(store)).toBe(0);
});

test('destroy() leaves no timers running', async () => {
  const { clock, service, openTab } = openBrowser();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  const { outbox } = openTab();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  outbox.destroy();
  outbox.destroy();
  await outbox.enqueue(createAdEvent());
  expect(clock.timers()).toBe(0);
});

test('an event that is being sent while the page is hidden stays stored until it is acknowledged', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const answered = createDeferred();
  const { outbox, lifecycle } = openTab();
  await runPendingWork();
  service.faults.push(async () => {
    await answered.promise;
    return { kind: 'unreachable', cause: 'network' };
  });
  const stored = outbox.enqueue(createAdEvent('complete'));
  lifecycle.emit('hidden');
  await stored;
  await runPendingWork();
  expect(await countRecords(store)).toBe(1);
  answered.resolve();
  await clock.advance(1_000);
  expect(service.counted).toEqual(['event-0001']);
  expect(await countRecords(store)).toBe(0);
});

test('after destroy(), events are stored but nothing is sent', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const { outbox, lifecycle, connectivity } = openTab();
  await runPendingWork();
  outbox.destroy();
  await outbox.enqueue(createAdEvent());
  await outbox.flush();
  lifecycle.emit('leaving');
  lifecycle.emit('visible');
  connectivity.reconnect();
  await clock.advance(60_000);
  expect(service.requests).toEqual([]);
  expect(await countRecords(store)).toBe(1);
});

test('after destroy(), a failed request is not retried and rewards are not reported', async () => {
  const { clock, service, openTab } = openBrowser();
  const answered = createDeferred();
  service.faults.push(async () => {
    await answered.promise;
    return { kind: 'retry', status: 503 };
  });
  const { outbox } = openTab();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  outbox.destroy();
  answered.resolve();
  await runPendingWork();
  expect([service.requests.length, clock.timers()]).toEqual([1, 0]);
});

test.each<[string, (excess: number) => string[]]>([
  ['64 events', (excess) => Array<string>(64 + excess).fill('')],
  ['60,000 characters', (excess) => ['', 'x'.repeat(60_000 - 2 * emptyLength + excess)]],
])('a record holds exactly %s', async (_, listDetails) => {
  for (const [excess, records] of [
    [0, 1],
    [1, 2],
  ] as const) {
    const { service, store, openTab } = openBrowser();
    service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
    const { outbox } = openTab();
    const details = listDetails(excess);
    await Promise.all(details.map((detail) => outbox.enqueue(createAdEvent('error', detail))));
    expect(await countRecords(store)).toBe(records);
  }
});

test('splits a burst of 100 kB into records that each fit in a request', async () => {
  const { service, store, openTab } = openBrowser();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  const { outbox } = openTab();
  const detail = 'x'.repeat(2_000);
  await Promise.all(
    Array.from({ length: 50 }, () => outbox.enqueue(createAdEvent('error', detail))),
  );
  const lengths = (await readAll(store)).map(({ value }) => JSON.stringify(value).length);
  expect(lengths).toHaveLength(2);
  expect(Math.max(...lengths)).toBeLessThan(64_000);
});

test('drops and reports an event that is too large for a request', async () => {
  const { service, openTab, clock } = openBrowser();
  const { outbox } = openTab();
  const newId = (): string => 'event-0001';
  const occurredAt = new Date(clock.now()).toISOString();
  const empty = JSON.stringify({
    ...createAdEvent('error', ''),
    id: newId(),
    occurred_at: occurredAt,
  });
  const detail = 'x'.repeat(60_000 - empty.length);
  await outbox.enqueue(createAdEvent('error', detail));
  await outbox.enqueue(createAdEvent('error', `${detail}x`));
  await runPendingWork();
  expect(service.counted).toEqual(['event-0001']);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, dropped: { too_large: 1 } });
});
