import { expect, test, vi } from 'vitest';
import { createAdEvent } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser } from './open-browser.ts';

const evictionCode = vi.hoisted(() => ({ isReachable: false, loads: 0 }));
vi.mock('../../../src/outbox/evict.ts', () => ({
  get evict() {
    evictionCode.loads += 1;
    if (!evictionCode.isReachable) throw new TypeError('Failed to fetch the chunk.');
    return async () => undefined;
  },
}));

const offline = async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }) as const;

test('loads the eviction chunk long before a limit is reached', async () => {
  const { service, openTab } = openBrowser();
  service.faults.push(offline);
  const { outbox } = openTab({ bounds: { events: 100, bytes: 1e9 } });
  evictionCode.loads = 0;
  for (let index = 0; index < 5; index++) await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(evictionCode.loads).toBe(0);
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(evictionCode.loads).toBeGreaterThan(0);
});

test('loses no event if the eviction chunk cannot be loaded', async () => {
  const { service, store, openTab } = openBrowser();
  service.faults.push(offline);
  let isFull = false;
  const append: typeof store.append = (records) =>
    isFull ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store.append(records);
  const { outbox } = openTab({
    bounds: { events: 5, bytes: 1e9 },
    store: { ...store, append, close: () => undefined },
  });
  for (let index = 0; index < 10; index++) await outbox.enqueue(createAdEvent('midpoint'));
  expect(outbox.diagnostics()).toMatchObject({ storage: 'indexeddb', stored: 10, dropped: {} });
  isFull = true;
  await outbox.enqueue(createAdEvent('complete'));
  expect(outbox.diagnostics()).toMatchObject({ storage: 'memory', stored: 11, dropped: {} });
});
