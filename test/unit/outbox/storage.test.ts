import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/outbox/event-store.ts';
import { createAdEvent } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser, countRecords } from './open-browser.ts';

test('falls back to memory when the store fails, and reports the error', async () => {
  const { service, openTab } = openBrowser();
  const brokenStore = {
    ...createMemoryStore(),
    read: () => Promise.reject(new Error('no database here')),
    append: () => Promise.reject(new Error('no database here')),
  };
  const { outbox } = openTab({ store: brokenStore });
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
  expect(outbox.diagnostics()).toMatchObject({
    storage: 'memory',
    lastError: 'Error: no database here',
  });
});

test('evicts quartiles first, then impressions, and completions last', async () => {
  const { service, store, openTab } = openBrowser();
  const respondUnavailable = async () => ({ kind: 'unreachable', cause: 'network' }) as const;
  service.faults.push(respondUnavailable);
  const { outbox } = openTab({ bounds: { events: 10, bytes: 1e9 } });
  await outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  for (const type of ['midpoint', 'impression', 'complete'] as const)
    await Promise.all(Array.from({ length: 4 }, () => outbox.enqueue(createAdEvent(type))));
  const remaining = (await store.read(-1)).flatMap(
    ({ value }) => (value as { events: string[] }).events,
  );
  expect(remaining.map((json) => (JSON.parse(json) as { type: string }).type).sort()).toEqual([
    ...Array.from({ length: 5 }, () => 'complete'),
    ...Array.from({ length: 4 }, () => 'impression'),
  ]);
  expect(outbox.diagnostics()).toMatchObject({ stored: 9, dropped: { too_many: 4 } });
});

test('when the quota is exhausted, evicts old events and stores the new one', async () => {
  const { store, service, openTab } = openBrowser();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  let isFull = false;
  const append: typeof store.append = async (records) => {
    if (isFull) {
      isFull = false;
      throw new DOMException('full', 'QuotaExceededError');
    }
    await store.append(records);
  };
  const { outbox } = openTab({ store: { ...store, append, close: () => undefined } });
  for (let index = 0; index < 10; index++) await outbox.enqueue(createAdEvent('midpoint'));
  isFull = true;
  await outbox.enqueue(createAdEvent('complete'));
  const { storage, dropped } = outbox.diagnostics();
  expect(storage).toBe('indexeddb');
  expect(dropped.too_many).toBeGreaterThan(0);
  const remaining = (await store.read(-1)).map(({ value }) => JSON.stringify(value)).join();
  expect(remaining).toContain('complete');
});

test('drops and counts corrupt records and records from unknown releases', async () => {
  const { store, service, openTab } = openBrowser();
  const corrupt = ['{broken', 'null', '{}'].map((json) => ({
    v: 1 as const,
    events: [json],
  }));
  const tampered = [null, 5, {}, [], ['{"id":"a"}'], undefined].map((json) => ({
    v: 1,
    events: ['{"id":"b"}', json],
  }));
  await store.append([{ v: 9, things: [] }, ...tampered, null, 'text'] as never[]);
  await store.append(corrupt);
  const { outbox } = openTab();
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(outbox.diagnostics().dropped).toEqual({ unreadable: 12 });
  expect(outbox.diagnostics().lastError).toBeUndefined();
  expect(service.counted).toHaveLength(1);
  expect(await countRecords(store)).toBe(0);
});

test('evicting part of a record in memory keeps the rest', async () => {
  const { clock, service, openTab } = openBrowser();
  const broken = {
    ...createMemoryStore(),
    append: () => Promise.reject(new Error('no database here')),
  };
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  const { outbox } = openTab({ store: broken, bounds: { events: 10, bytes: 1e9 } });
  const types = [
    'midpoint',
    'midpoint',
    'midpoint',
    ...Array.from({ length: 9 }, () => 'complete'),
  ];
  await Promise.all(types.map((type) => outbox.enqueue(createAdEvent(type as 'midpoint'))));
  expect(outbox.diagnostics()).toMatchObject({ stored: 9, dropped: { too_many: 3 } });
  await clock.advance(10_000);
  const sent = service.requests.at(-1)?.batch.events.map(({ type }) => type);
  expect(sent).toEqual(types.slice(3));
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 9 });
});

test('the last error is reported in the diagnostics, whichever operation fails', async () => {
  const { store, openTab } = openBrowser();
  const failing = (operation: 'append' | 'read' | 'remove' | 'rewrite') => ({
    ...store,
    close: () => undefined,
    [operation]: () => Promise.reject(new Error(`${operation} failed`)),
  });
  for (const operation of ['append', 'read', 'remove', 'rewrite'] as const) {
    const { outbox } = openTab({
      store: failing(operation),
      bounds: { events: operation === 'rewrite' ? 0 : 100, bytes: 1e9 },
    });
    await outbox.enqueue(createAdEvent());
    await runPendingWork();
    expect(outbox.diagnostics().lastError).toBe(`Error: ${operation} failed`);
    outbox.destroy();
  }
});

test('keeps an event, however old, until the service responds', async () => {
  const { clock, service, openTab } = openBrowser();
  const { outbox, connectivity } = openTab();
  service.faults.push(
    async () => ({ kind: 'unreachable', cause: 'network' }),
    async () => ({ kind: 'retry', status: 503 }),
    async () => ({ kind: 'unreachable', cause: 'unexpected_response' }),
  );
  await outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    clock.setWallTime(clock.now() + 30 * 86_400_000);
    connectivity.reconnect();
    await runPendingWork();
  }
  expect(service.requests).toHaveLength(3);
  expect(outbox.diagnostics()).toMatchObject({ stored: 1, dropped: {} });
  connectivity.reconnect();
  await runPendingWork();
  expect(service.counted).toEqual(['event-0001']);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 1, dropped: {} });
});

test('stops evicting if eviction does not free enough space', async () => {
  const { store, service, openTab } = openBrowser();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }));
  let isFull = false;
  const append: typeof store.append = (records) =>
    isFull ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store.append(records);
  const { outbox } = openTab({ store: { ...store, append, close: () => undefined } });
  for (let index = 0; index < 20; index++) await outbox.enqueue(createAdEvent('midpoint'));
  isFull = true;
  for (let index = 0; index < 5; index++) await outbox.enqueue(createAdEvent('complete'));
  const { dropped, stored, storage } = outbox.diagnostics();
  expect(storage).toBe('memory');
  expect(dropped.too_many).toBeLessThanOrEqual(6);
  expect(stored).toBe(25 - (dropped.too_many ?? 0));
  isFull = false;
  await outbox.enqueue(createAdEvent('complete'));
  expect(outbox.diagnostics().storage).toBe('indexeddb');
});

test('evicts whole records if the disk is too full to rewrite one', async () => {
  const { store, service, openTab } = openBrowser();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }));
  let isFull = false;
  const rewrite: typeof store.rewrite = async (changes) => {
    if (changes.some(({ record }) => record.events.length > 0)) throw new Error('full');
    isFull = false;
    await store.rewrite(changes);
  };
  const append: typeof store.append = (records) =>
    isFull ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store.append(records);
  const { outbox } = openTab({ store: { ...store, append, rewrite, close: () => undefined } });
  for (let burst = 0; burst < 4; burst++)
    await Promise.all(Array.from({ length: 5 }, () => outbox.enqueue(createAdEvent('midpoint'))));
  isFull = true;
  await outbox.enqueue(createAdEvent('complete'));
  expect(outbox.diagnostics()).toMatchObject({
    storage: 'indexeddb',
    stored: 16,
    dropped: { too_many: 5 },
  });
});
