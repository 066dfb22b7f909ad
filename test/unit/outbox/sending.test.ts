import { expect, test } from 'vitest';
import { createDeferred } from '../../support/deferred.ts';
import { createAdEvent, type EventService } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser, countRecords } from './open-browser.ts';

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

test('emits the rewards in a response until the listener is removed', async () => {
  const { openTab } = openBrowser();
  const { outbox } = openTab();
  const received: unknown[] = [];
  const unsubscribe = outbox.onRewards((rewards) => received.push(rewards));
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  unsubscribe();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(received).toEqual([[{ id: 'dec_1', state: 'pending' }]]);
});

const batchSizes = ({ requests }: EventService): number[] =>
  requests.map(({ batch }) => batch.events.length);
const storedEvent = (id: string, detail?: string) => ({
  v: 1 as const,
  at: 0,
  events: [JSON.stringify({ ...createAdEvent('start', detail), id })],
});

test('sends a large backlog in increasingly large requests', async () => {
  const { service, store, openTab } = openBrowser();
  await store.append(Array.from({ length: 2_000 }, (_, index) => storedEvent(`old-${index}`)));
  const { outbox } = openTab();
  await outbox.flush();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(batchSizes(service)).toEqual([100, 200, 400, 500, 500, 300, 1]);
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

test.each([
  [413, 'body_too_large'],
  [422, 'invalid_request'],
] as const)(
  'after rejecting a large request with %d, the service receives only small ones',
  async (status, code) => {
    const { service, store, openTab } = openBrowser();
    await store.append(Array.from({ length: 2_000 }, (_, index) => storedEvent(`old-${index}`)));
    const accept = service.sendEvents.bind(service);
    service.sendEvents = async (body, options) => {
      const response = await accept(body, options);
      if ((service.requests.at(-1)?.batch.events.length ?? 0) <= 100) return response;
      service.counted.length -= service.requests.at(-1)?.batch.events.length ?? 0;
      return {
        kind: 'refused',
        problem: { type: '', title: '', status, detail: '', code, request_id: '' },
      };
    };
    const { outbox } = openTab();
    await outbox.flush();
    await runPendingWork();
    expect(batchSizes(service)).toEqual([100, 200, ...Array.from({ length: 19 }, () => 100)]);
    expect(service.counted).toHaveLength(2_000);
    expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 2_000, rejected: {} });
  },
);

test('the first request after a failure contains few events', async () => {
  const { clock, service, store, openTab } = openBrowser();
  await store.append(Array.from({ length: 400 }, (_, index) => storedEvent(`old-${index}`)));
  service.faults.push(undefined, async () => ({ kind: 'unreachable', cause: 'network' }));
  openTab();
  await clock.advance(1_000);
  expect(batchSizes(service)).toEqual([100, 200, 25, 50, 100, 125]);
  expect(service.counted).toHaveLength(400);
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
  await store.append(Array.from({ length: 250 }, (_, index) => storedEvent(`old-${index}`)));
  const reads: { after: number; requests: number }[] = [];
  const read: typeof store.read = (after, limit) => {
    reads.push({ after, requests: service.requests.length });
    return store.read(after, limit);
  };
  openTab({ store: { ...store, read, close: () => undefined } });
  await runPendingWork();
  expect(service.counted).toHaveLength(250);
  expect(batchSizes(service)).toEqual([100, 150]);
  // The first request is in flight.
  expect(reads).toContainEqual({ after: 200, requests: 1 });
});

test('reads ahead by at most a few requests’ worth of events', async () => {
  const { service, store, openTab } = openBrowser();
  const json = JSON.stringify(createAdEvent());
  const records = Array.from({ length: 100 }, (_, index) => ({
    v: 1 as const,
    at: 0,
    events: Array.from({ length: 50 }, (__, eventIndex) =>
      json.replace('{', `{"id":"${index}-${eventIndex}",`),
    ),
  }));
  await store.append(records);
  const limits: number[] = [];
  const read: typeof store.read = (after, limit) => {
    limits.push(limit);
    return store.read(after, limit);
  };
  openTab({ store: { ...store, read, close: () => undefined } });
  // The initial count also reads every record, but separately.
  await runPendingWork();
  expect(service.counted).toHaveLength(5_000);
  const [, , ...drainLimits] = limits;
  // Each record has 50 events. The outbox learns that from the first read.
  expect(Math.max(...drainLimits)).toBeLessThanOrEqual(25);
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

test('drops and reports an event that is too large for a request', async () => {
  const { openTab } = openBrowser();
  const { outbox } = openTab();
  await outbox.enqueue(createAdEvent('error', 'x'.repeat(70_000)));
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, dropped: { too_large: 1 } });
});
