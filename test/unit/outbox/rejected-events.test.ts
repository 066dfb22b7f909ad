import { expect, test } from 'vitest';
import type { Problem } from '../../../protocol/wire.ts';
import { createDeferred } from '../../support/deferred.ts';
import { createAdEvent } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser, countRecords } from './open-browser.ts';

const problem = (status: number, code: Problem['code']): { kind: 'refused'; problem: Problem } => ({
  kind: 'refused',
  problem: { type: '', title: '', status, detail: '', code, request_id: '' },
});

test('a rejected event does not block the others', async () => {
  const { service, store, openTab } = openBrowser();
  const { outbox } = openTab();
  service.reject = ({ type }) => (type === 'click' ? 'token_invalid' : undefined);
  await Promise.all([
    outbox.enqueue(createAdEvent('click')),
    outbox.enqueue(createAdEvent('complete')),
  ]);
  await runPendingWork();
  expect(service.counted).toEqual(['event-0002']);
  expect(outbox.diagnostics()).toMatchObject({ sent: 1, rejected: { token_invalid: 1 } });
  expect(await countRecords(store)).toBe(0);
});

test.each([
  [400, 'malformed_json'],
  [413, 'body_too_large'],
  [422, 'invalid_request'],
] as const)(
  'splits a batch that is rejected with %d until the invalid event is isolated',
  async (status, code) => {
    const { service, store, openTab } = openBrowser();
    const { outbox } = openTab();
    const sendEvents = service.sendEvents.bind(service);
    service.sendEvents = async (body, options) => {
      if (!body.includes('"detail":"bad"')) return sendEvents(body, options);
      return problem(status, code);
    };
    const events = Array.from({ length: 30 }, (_, index) =>
      outbox.enqueue(createAdEvent('start', index === 17 ? 'bad' : 'good')),
    );
    await Promise.all(events);
    await runPendingWork();
    expect(service.counted).toHaveLength(29);
    expect(service.requests.every(({ batch }) => batch.events.length > 0)).toBe(true);
    expect(outbox.diagnostics()).toMatchObject({ sent: 29, rejected: { [code]: 1 }, dropped: {} });
    expect(await countRecords(store)).toBe(0);
  },
);

test('keeps all events when the key is rejected', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox } = openTab();
  service.faults.push(async () => problem(401, 'key_revoked'));
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(outbox.diagnostics()).toMatchObject({ stored: 1, lastError: 'key_revoked' });
  await clock.advance(1_000);
  expect(service.counted).toHaveLength(1);
});

test('does not send a request to a rate-limiting service until Retry-After has passed', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox, connectivity, lifecycle } = openTab();
  service.faults.push(async () => ({ kind: 'retry', status: 429, retryAfterMs: 60_000 }));
  await outbox.enqueue(createAdEvent());
  await clock.advance(30_000);
  connectivity.reconnect();
  lifecycle.emit('hidden');
  lifecycle.emit('visible');
  await outbox.enqueue(createAdEvent());
  await outbox.flush();
  await clock.advance(29_999);
  expect(service.requests).toHaveLength(1);
  await clock.advance(1_001);
  expect(service.counted).toHaveLength(2);
});

test('retries immediately if Retry-After passed while the device slept', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox, lifecycle } = openTab();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }));
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  lifecycle.emit('hidden');
  // The back-off adds up to a second of jitter.
  clock.sleep(3_601_000);
  lifecycle.emit('visible');
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
});

test.each(['unexpected_response', 'network', 'timeout'] as const)(
  'backs off after %s, but retries immediately when the device is online again',
  async (cause) => {
    const { clock, service, openTab } = openBrowser();
    const { outbox, connectivity } = openTab();
    const fail = async () => ({ kind: 'unreachable', cause }) as const;
    service.faults.push(fail, fail, fail);
    await outbox.enqueue(createAdEvent());
    await clock.advance(3_000);
    expect(service.requests).toHaveLength(3);
    expect(clock.timers()).toBe(1);
    connectivity.reconnect();
    await runPendingWork();
    expect(service.counted).toHaveLength(1);
    expect(clock.timers()).toBe(0);
  },
);

test('retries if a back-off ends while the store is being read', async () => {
  const { clock, service, store, openTab } = openBrowser();
  const storeReady = createDeferred();
  const read: typeof store.read = async (after) => {
    if (after > 0) await storeReady.promise;
    return store.read(after);
  };
  const { outbox } = openTab({ store: { ...store, read, close: () => undefined } });
  service.faults.push(async () => ({ kind: 'retry', status: 429 }));
  await runPendingWork();
  await outbox.enqueue(createAdEvent());
  await clock.advance(1_000);
  storeReady.resolve();
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
});

test('counts every event as stored, sent, dropped or rejected', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox } = openTab({ bounds: { events: 20, bytes: 1e9 } });
  const respondUnavailable = async () => ({ kind: 'unreachable', cause: 'network' }) as const;
  service.faults.push(respondUnavailable, respondUnavailable);
  service.reject = ({ type }) => (type === 'click' ? 'late' : undefined);
  for (const type of ['midpoint', 'click', 'complete'] as const)
    for (let index = 0; index < 10; index++) await outbox.enqueue(createAdEvent(type));
  const sum = () => {
    const { stored, sent, dropped, rejected } = outbox.diagnostics();
    const counts = [stored, sent, ...Object.values(dropped), ...Object.values(rejected)];
    return counts.reduce((total, count) => total + count, 0);
  };
  expect(sum()).toBe(30);
  await clock.advance(10_000);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, rejected: { late: 8 } });
  expect(sum()).toBe(30);
});

test('reports each dropped event to the service once, with the reason', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox } = openTab();
  await outbox.enqueue(createAdEvent('error', 'x'.repeat(70_000)));
  await outbox.enqueue(createAdEvent('error', 'x'.repeat(70_000)));
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  await outbox.enqueue(createAdEvent());
  await clock.advance(1_000);
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.requests.map(({ batch }) => batch.dropped)).toEqual([
    { too_large: 2 },
    { too_large: 2 },
    undefined,
  ]);
});
