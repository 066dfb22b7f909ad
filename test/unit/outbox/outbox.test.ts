import { expect, test } from 'vitest';
import type { Problem } from '../../../protocol/wire.ts';
import { createMemoryStore } from '../../../src/outbox/memory-store.ts';
import type { EventStore } from '../../../src/outbox/event-store.ts';
import { createOutbox, type OutboxParts } from '../../../src/outbox/create-outbox.ts';
import { deferred } from '../../support/deferred.ts';
import { adEvent, eventService } from '../../support/event-service.ts';
import { manualClock, settled } from '../../support/manual-clock.ts';
import { sharedLocks, sharedTabSignal, testNetwork, testPage } from '../../support/ports.ts';

/** One "browser": its tabs share a store, locks and signals. */
function browser() {
  const clock = manualClock();
  const service = eventService();
  const store = { ...createMemoryStore(), open: () => Promise.resolve() };
  const locks = sharedLocks();
  const openTabSignal = sharedTabSignal();
  let ids = 0;
  const openTab = (parts: Partial<OutboxParts> = {}) => {
    const lifecycle = testPage();
    const connectivity = testNetwork();
    const outbox = createOutbox({
      name: 'test',
      client: service,
      clock,
      random: () => 1,
      newId: () => `event-${String(++ids).padStart(4, '0')}`,
      locks,
      connectivity,
      lifecycle,
      openTabSignal,
      store: { ...store, close: () => undefined },
      ...parts,
    });
    return { outbox, lifecycle, connectivity };
  };
  return { clock, service, store, openTab, signal: openTabSignal };
}
const recordsIn = async (store: EventStore): Promise<number> => (await store.read(-1, 1e6)).length;
const problem = (status: number, code: Problem['code']): { kind: 'refused'; problem: Problem } => ({
  kind: 'refused',
  problem: { type: '', title: '', status, detail: '', code, request_id: '' },
});

test('sends the events of one task in one request, empties the store and rests', async () => {
  const { clock, service, store, openTab } = browser();
  const { outbox } = openTab();
  await Promise.all([1, 2, 3].map(() => outbox.enqueue(adEvent())));
  await outbox.flush();
  await settled();
  expect(service.requests).toHaveLength(1);
  expect(service.counted).toEqual(['event-0001', 'event-0002', 'event-0003']);
  expect(await recordsIn(store)).toBe(0);
  expect(clock.timers()).toBe(0);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 3, dropped: {}, rejected: {} });
});

test('hands out the rewards that came with an answer, until nobody listens', async () => {
  const { openTab } = browser();
  const { outbox } = openTab();
  const heard: unknown[] = [];
  const off = outbox.onRewards((rewards) => heard.push(rewards));
  await outbox.enqueue(adEvent());
  await settled();
  off();
  await outbox.enqueue(adEvent());
  await settled();
  expect(heard).toEqual([[{ id: 'dec_1', state: 'pending' }]]);
});

test('never sends more than a hundred events in a request', async () => {
  const { service, openTab } = browser();
  const { outbox } = openTab();
  await Promise.all(Array.from({ length: 250 }, () => outbox.enqueue(adEvent())));
  await settled();
  expect(Math.max(...service.requests.map(({ batch }) => batch.events.length))).toBeLessThanOrEqual(
    100,
  );
  expect(service.counted).toHaveLength(250);
  expect(new Set(service.counted).size).toBe(250);
});

test('sends a batch again with the same ids when its answer was lost', async () => {
  const { clock, service, store, openTab } = browser();
  const { outbox } = openTab();
  service.faults.push(async (batch) => {
    service.accept(batch);
    return { kind: 'unreachable', cause: 'network' };
  });
  await outbox.enqueue(adEvent('complete'));
  await settled();
  expect(await recordsIn(store)).toBe(1);
  await clock.advance(1_000);
  const [first, second] = service.requests.map(({ batch }) => batch);
  expect(second?.events).toEqual(first?.events);
  expect(second?.sent_at).not.toBe(first?.sent_at);
  expect(service.counted).toEqual(['event-0001']);
  expect(await recordsIn(store)).toBe(0);
});

test('a rejected event is set aside and counted, and does not block the others', async () => {
  const { service, store, openTab } = browser();
  const { outbox } = openTab();
  service.reject = ({ type }) => (type === 'click' ? 'token_invalid' : undefined);
  await Promise.all([outbox.enqueue(adEvent('click')), outbox.enqueue(adEvent('complete'))]);
  await settled();
  expect(service.counted).toEqual(['event-0002']);
  expect(outbox.diagnostics()).toMatchObject({ sent: 1, rejected: { token_invalid: 1 } });
  expect(await recordsIn(store)).toBe(0);
});

test.each([
  [400, 'malformed_json'],
  [413, 'body_too_large'],
  [422, 'invalid_request'],
] as const)(
  'halves a body that is refused with %d until the bad event is alone',
  async (status, code) => {
    const { service, store, openTab } = browser();
    const { outbox } = openTab();
    const refuse = service.sendEvents.bind(service);
    service.sendEvents = async (batch, options) => {
      if (!batch.events.some(({ detail }) => detail === 'bad')) return refuse(batch, options);
      return problem(status, code);
    };
    const events = Array.from({ length: 30 }, (_, index) =>
      outbox.enqueue(adEvent('start', index === 17 ? 'bad' : 'good')),
    );
    await Promise.all(events);
    await settled();
    expect(service.counted).toHaveLength(29);
    expect(service.requests.every(({ batch }) => batch.events.length > 0)).toBe(true);
    expect(outbox.diagnostics()).toMatchObject({ sent: 29, rejected: { [code]: 1 }, dropped: {} });
    expect(await recordsIn(store)).toBe(0);
  },
);

test('keeps everything when the key is refused', async () => {
  const { clock, service, openTab } = browser();
  const { outbox } = openTab();
  service.faults.push(async () => problem(401, 'key_revoked'));
  await outbox.enqueue(adEvent());
  await settled();
  expect(outbox.diagnostics()).toMatchObject({ stored: 1, lastError: 'key_revoked' });
  await clock.advance(1_000);
  expect(service.counted).toHaveLength(1);
});

test('asks a limiting service only once until its Retry-After is over', async () => {
  const { clock, service, openTab } = browser();
  const { outbox, connectivity, lifecycle } = openTab();
  service.faults.push(async () => ({ kind: 'retry', status: 429, retryAfterMs: 60_000 }));
  await outbox.enqueue(adEvent());
  await clock.advance(30_000);
  connectivity.comeBack();
  lifecycle.tell('hidden');
  lifecycle.tell('visible');
  await outbox.enqueue(adEvent());
  await outbox.flush();
  await clock.advance(29_999);
  expect(service.requests).toHaveLength(1);
  await clock.advance(1_001);
  expect(service.counted).toHaveLength(2);
});

test.each(['foreign_answer', 'network', 'timeout'] as const)(
  'backs off after %s, and tries at once when the network comes back',
  async (cause) => {
    const { clock, service, openTab } = browser();
    const { outbox, connectivity } = openTab();
    const fail = async () => ({ kind: 'unreachable', cause }) as const;
    service.faults.push(fail, fail, fail);
    await outbox.enqueue(adEvent());
    await clock.advance(3_000);
    expect(service.requests).toHaveLength(3);
    expect(clock.timers()).toBe(1);
    connectivity.comeBack();
    await settled();
    expect(service.counted).toHaveLength(1);
    expect(clock.timers()).toBe(0);
  },
);

test('an event that could not be sent for a week is given up after one more try', async () => {
  const { clock, service, openTab } = browser();
  const { outbox, connectivity } = openTab();
  service.faults.push(
    async () => ({ kind: 'unreachable', cause: 'network' }),
    async () => ({ kind: 'retry', status: 503, retryAfterMs: 8 * 86_400_000 }),
    async () => ({ kind: 'unreachable', cause: 'network' }),
  );
  await outbox.enqueue(adEvent());
  await settled();
  connectivity.comeBack();
  await settled();
  await clock.advance(8 * 86_400_000 + 300_000);
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, dropped: { too_old: 1 } });
});

test('what is too old takes nothing young with it', async () => {
  const { clock, service, store, openTab } = browser();
  const { outbox } = openTab();
  const failed = { kind: 'unreachable', cause: 'network' } as const;
  service.sendEvents = async () => failed;
  await outbox.enqueue(adEvent());
  await clock.advance(7 * 86_400_000 + 1 - 300_000);
  await outbox.enqueue(adEvent('complete'));
  await clock.advance(600_000);
  expect(await recordsIn(store)).toBeGreaterThan(0);
  expect(outbox.diagnostics().stored).toBeGreaterThan(0);
});

test('only one tab sends; the others wake it, and one of them takes over', async () => {
  const { service, store, openTab } = browser();
  const first = openTab();
  const second = openTab();
  await settled();
  await second.outbox.enqueue(adEvent());
  await settled();
  expect(service.counted).toHaveLength(1);
  expect(second.outbox.diagnostics().sent).toBe(0);
  expect(first.outbox.diagnostics().sent).toBe(1);
  first.outbox.destroy();
  await second.outbox.enqueue(adEvent());
  await settled();
  expect(second.outbox.diagnostics().sent).toBe(1);
  expect(await recordsIn(store)).toBe(0);
});

test('a frozen tab lets another one send, and takes part again when it returns', async () => {
  const { openTab } = browser();
  const first = openTab();
  const second = openTab();
  await settled();
  first.lifecycle.tell('frozen');
  await second.outbox.enqueue(adEvent());
  await settled();
  expect(second.outbox.diagnostics().sent).toBe(1);
  second.outbox.destroy();
  first.lifecycle.tell('returned');
  await first.outbox.enqueue(adEvent());
  await settled();
  expect(first.outbox.diagnostics().sent).toBe(1);
});

test('sends what is young in a request that outlives the page, once, and not past its quota', async () => {
  const { service, store, openTab } = browser();
  const { outbox, lifecycle } = openTab();
  const stuck = deferred();
  service.faults.push(async (batch) => {
    await stuck.promise;
    return service.accept(batch);
  });
  await outbox.enqueue(adEvent('start'));
  await settled();
  const long = 'x'.repeat(200);
  const stored = Array.from({ length: 80 }, () => outbox.enqueue(adEvent('complete', long)));
  lifecycle.tell('leaving');
  const [inFlight, leaving] = service.requests;
  expect(inFlight?.batch.events).toHaveLength(1);
  expect(leaving?.keepalive).toBe(true);
  expect(JSON.stringify(leaving?.batch).length).toBeLessThan(16_000);
  expect(leaving?.batch.events.at(-1)?.id).toBe('event-0081');
  await Promise.all(stored);
  stuck.resolve();
  lifecycle.tell('returned');
  await settled();
  await settled();
  expect(service.counted).toHaveLength(81);
  const sentIds = service.requests.flatMap(({ batch }) => batch.events.map(({ id }) => id));
  expect(sentIds).toHaveLength(81);
  expect(await recordsIn(store)).toBe(0);
});

test('goes on in memory, and says so, when the store fails', async () => {
  const { service, openTab } = browser();
  const broken = {
    ...createMemoryStore(),
    open: () => Promise.reject(new Error('no database here')),
    append: () => Promise.reject(new Error('no database here')),
  };
  const { outbox } = openTab({ store: broken });
  await outbox.enqueue(adEvent());
  await settled();
  expect(service.counted).toHaveLength(1);
  expect(outbox.diagnostics()).toMatchObject({
    storage: 'memory',
    lastError: 'Error: no database here',
  });
});

test('gives up quartiles before impressions, and completions last', async () => {
  const { service, store, openTab } = browser();
  const down = async () => ({ kind: 'unreachable', cause: 'network' }) as const;
  service.faults.push(down);
  const { outbox } = openTab({ bounds: { events: 10, bytes: 1e9 } });
  await outbox.enqueue(adEvent('complete'));
  await settled();
  for (const type of ['midpoint', 'impression', 'complete'] as const)
    await Promise.all(Array.from({ length: 4 }, () => outbox.enqueue(adEvent(type))));
  const left = (await store.read(-1, 100)).flatMap(
    ({ value }) => (value as { events: string[] }).events,
  );
  expect(left.map((json) => (JSON.parse(json) as { type: string }).type).sort()).toEqual([
    ...Array.from({ length: 5 }, () => 'complete'),
    ...Array.from({ length: 4 }, () => 'impression'),
  ]);
  expect(outbox.diagnostics()).toMatchObject({ stored: 9, dropped: { too_many: 4 } });
});

test('makes room and stores the event when the quota is exceeded', async () => {
  const { store, service, openTab } = browser();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  let full = false;
  const append: typeof store.append = async (records) => {
    if (full) {
      full = false;
      throw new DOMException('full', 'QuotaExceededError');
    }
    await store.append(records);
  };
  const { outbox } = openTab({ store: { ...store, append, close: () => undefined } });
  for (let index = 0; index < 10; index++) await outbox.enqueue(adEvent('midpoint'));
  full = true;
  await outbox.enqueue(adEvent('complete'));
  const { storage, dropped } = outbox.diagnostics();
  expect(storage).toBe('indexeddb');
  expect(dropped.too_many).toBeGreaterThan(0);
  const left = (await store.read(-1, 100)).map(({ value }) => JSON.stringify(value)).join();
  expect(left).toContain('complete');
});

test('sets a damaged record, and one of an unknown release, aside and goes on', async () => {
  const { store, service, openTab } = browser();
  const damaged = ['{broken', 'null', '{}'].map((json) => ({
    v: 1 as const,
    at: 0,
    events: [json],
  }));
  await store.append([{ v: 9, things: [] } as never, ...damaged]);
  const aside: unknown[] = [];
  const setAside: typeof store.setAside = async (entries) => void aside.push(...entries);
  const { outbox } = openTab({ store: { ...store, setAside, close: () => undefined } });
  await outbox.enqueue(adEvent());
  await settled();
  expect(aside).toHaveLength(4);
  expect(service.counted).toHaveLength(1);
  expect(await recordsIn(store)).toBe(0);
});

test('an event that no request can take is dropped at once, and said', async () => {
  const { openTab } = browser();
  const { outbox } = openTab();
  await outbox.enqueue(adEvent('error', 'x'.repeat(70_000)));
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, dropped: { too_large: 1 } });
});

test('after destroy there is no timer, and enqueue still resolves', async () => {
  const { clock, service, openTab } = browser();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  const { outbox } = openTab();
  await outbox.enqueue(adEvent());
  await settled();
  outbox.destroy();
  outbox.destroy();
  await outbox.enqueue(adEvent());
  expect(clock.timers()).toBe(0);
});

test('reads the next records while a batch is on its way', async () => {
  const { service, store, openTab } = browser();
  const records = Array.from({ length: 250 }, (_, index) => ({
    v: 1 as const,
    at: 0,
    events: [JSON.stringify({ ...adEvent(), id: `old-${index}` })],
  }));
  await store.append(records);
  const reads: { after: number; requests: number }[] = [];
  const read: typeof store.read = (after, limit) => {
    reads.push({ after, requests: service.requests.length });
    return store.read(after, limit);
  };
  openTab({ store: { ...store, read, close: () => undefined } });
  await settled();
  expect(service.counted).toHaveLength(250);
  expect(service.requests.map(({ batch }) => batch.events.length)).toEqual([25, 100, 100, 25]);
  // The third request holds the last records that were known.
  expect(reads).toContainEqual({ after: 225, requests: 3 });
});

test('reads no more events at once than some requests hold, however many a record has', async () => {
  const { service, store, openTab } = browser();
  const json = JSON.stringify(adEvent());
  const records = Array.from({ length: 100 }, (_, index) => ({
    v: 1 as const,
    at: 0,
    events: Array.from({ length: 50 }, (__, nth) => json.replace('{', `{"id":"${index}-${nth}",`)),
  }));
  await store.append(records);
  const limits: number[] = [];
  const read: typeof store.read = (after, limit) => {
    limits.push(limit);
    return store.read(after, limit);
  };
  openTab({ store: { ...store, read, close: () => undefined } });
  // The count at the start looks through everything, in steps of its own.
  await settled();
  expect(service.counted).toHaveLength(5_000);
  const [, , ...ofDrain] = limits;
  expect(new Set(ofDrain)).toEqual(new Set([25, 4]));
});

test('tells the service once how many events were given up, and why', async () => {
  const { clock, service, openTab } = browser();
  const { outbox } = openTab();
  await outbox.enqueue(adEvent('error', 'x'.repeat(70_000)));
  await outbox.enqueue(adEvent('error', 'x'.repeat(70_000)));
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  await outbox.enqueue(adEvent());
  await clock.advance(1_000);
  await outbox.enqueue(adEvent());
  await settled();
  expect(service.requests.map(({ batch }) => batch.dropped)).toEqual([
    { too_large: 2 },
    { too_large: 2 },
    undefined,
  ]);
});

test('every tab hears the rewards and counts what waits, whichever tab sends', async () => {
  const { clock, service, openTab } = browser();
  const [first, second] = [openTab(), openTab()];
  const heard: unknown[] = [];
  second.outbox.onRewards((rewards) => heard.push(rewards));
  await settled();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  await Promise.all([1, 2, 3].map(() => second.outbox.enqueue(adEvent())));
  await first.outbox.enqueue(adEvent());
  await settled();
  expect([first, second].map(({ outbox }) => outbox.diagnostics().stored)).toEqual([4, 4]);
  const later = openTab();
  await settled();
  expect(later.outbox.diagnostics().stored).toBe(4);
  await clock.advance(1_000);
  for (const { outbox } of [first, second, later]) expect(outbox.diagnostics().stored).toBe(0);
  expect(heard).toEqual([[{ id: 'dec_1', state: 'pending' }]]);
});

test('news of an older release in another tab, or of a newer one, does no harm', async () => {
  const { openTab, signal } = browser();
  const { outbox } = openTab();
  for (const strange of [0, 'news', { something: 1 }]) signal('test:outbox').send(strange);
  await outbox.enqueue(adEvent());
  await settled();
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 1 });
});

test('a tab whose store fails lets another one send', async () => {
  const { service, store, openTab } = browser();
  let broken = false;
  const read: typeof store.read = (after, limit) =>
    broken ? Promise.reject(new Error('closed for an upgrade')) : store.read(after, limit);
  const first = openTab({ store: { ...store, read, close: () => undefined } });
  const second = openTab();
  await settled();
  broken = true;
  await second.outbox.enqueue(adEvent());
  await settled();
  expect(service.counted).toHaveLength(1);
  expect(second.outbox.diagnostics().sent).toBe(1);
  expect(first.outbox.diagnostics().lastError).toBe('Error: closed for an upgrade');
});

test('every event is counted under exactly one heading', async () => {
  const { clock, service, openTab } = browser();
  const { outbox } = openTab({ bounds: { events: 20, bytes: 1e9 } });
  const down = async () => ({ kind: 'unreachable', cause: 'network' }) as const;
  service.faults.push(down, down);
  service.reject = ({ type }) => (type === 'click' ? 'late' : undefined);
  for (const type of ['midpoint', 'click', 'complete'] as const)
    for (let index = 0; index < 10; index++) await outbox.enqueue(adEvent(type));
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

test('tries again when a wait ends while the store is still being read', async () => {
  const { clock, service, store, openTab } = browser();
  const slow = deferred();
  const read: typeof store.read = async (after, limit) => {
    if (after > 0) await slow.promise;
    return store.read(after, limit);
  };
  const { outbox } = openTab({ store: { ...store, read, close: () => undefined } });
  service.faults.push(async () => ({ kind: 'retry', status: 429 }));
  await settled();
  await outbox.enqueue(adEvent());
  await clock.advance(1_000);
  slow.resolve();
  await settled();
  expect(service.counted).toHaveLength(1);
});

test('where a sacrifice makes no room, later events cost no more stored ones', async () => {
  const { store, service, openTab } = browser();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }));
  let full = false;
  const append: typeof store.append = (records) =>
    full ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store.append(records);
  const { outbox } = openTab({ store: { ...store, append, close: () => undefined } });
  for (let index = 0; index < 20; index++) await outbox.enqueue(adEvent('midpoint'));
  full = true;
  for (let index = 0; index < 5; index++) await outbox.enqueue(adEvent('complete'));
  const { dropped, stored, storage } = outbox.diagnostics();
  expect(storage).toBe('memory');
  expect(dropped.too_many).toBeLessThanOrEqual(6);
  expect(stored).toBe(25 - (dropped.too_many ?? 0));
  full = false;
  await outbox.enqueue(adEvent('complete'));
  expect(outbox.diagnostics().storage).toBe('indexeddb');
});

test('a full disk lets whole records go although none can be rewritten', async () => {
  const { store, service, openTab } = browser();
  service.faults.push(async () => ({ kind: 'retry', status: 503, retryAfterMs: 3_600_000 }));
  let full = false;
  const rewrite: typeof store.rewrite = async (changes) => {
    if (changes.some(({ record }) => record.events.length > 0)) throw new Error('full');
    full = false;
    await store.rewrite(changes);
  };
  const append: typeof store.append = (records) =>
    full ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store.append(records);
  const { outbox } = openTab({ store: { ...store, append, rewrite, close: () => undefined } });
  for (let burst = 0; burst < 4; burst++)
    await Promise.all(Array.from({ length: 5 }, () => outbox.enqueue(adEvent('midpoint'))));
  full = true;
  await outbox.enqueue(adEvent('complete'));
  expect(outbox.diagnostics()).toMatchObject({
    storage: 'indexeddb',
    stored: 16,
    dropped: { too_many: 5 },
  });
});
