import { expect, test } from 'vitest';
import type { PageTransition } from '../../../src/platform/page.ts';
import { createDeferred } from '../../support/deferred.ts';
import { createAdEvent } from '../../support/event-service.ts';
import { runPendingWork } from '../../support/manual-clock.ts';
import { openBrowser, countRecords } from './open-browser.ts';

test('only one tab sends at a time, and another tab takes over when it closes', async () => {
  const { service, store, openTab } = openBrowser();
  const first = openTab();
  const second = openTab();
  await runPendingWork();
  await second.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
  const countSent = () => first.outbox.diagnostics().sent + second.outbox.diagnostics().sent;
  expect(countSent()).toBe(1);
  first.outbox.destroy();
  await second.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(countSent()).toBe(2);
  expect(await countRecords(store)).toBe(0);
});

test('a frozen tab gives up leadership, and can become the leader again when it returns', async () => {
  const { openTab } = openBrowser();
  const first = openTab();
  const second = openTab();
  await runPendingWork();
  first.lifecycle.emit('frozen');
  await second.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(second.outbox.diagnostics().sent).toBe(1);
  second.outbox.destroy();
  first.lifecycle.emit('returned');
  await first.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(first.outbox.diagnostics().sent).toBe(1);
});

// Browsers fire `pagehide` before they report that the page is hidden. Only Chromium also reports that it freezes it.
test.each<[transitions: PageTransition[], mayLead: boolean]>([
  [['hidden'], true],
  [['leaving'], false],
  [['leaving', 'hidden'], false],
  [['leaving', 'hidden', 'frozen'], false],
  [['hidden', 'frozen'], false],
  [['leaving', 'hidden', 'visible'], true],
  [['leaving', 'hidden', 'returned', 'hidden'], true],
])('after %j, a tab takes the lock: %s', async (transitions, mayLead) => {
  let requests = 0;
  const { openTab } = openBrowser();
  const { lifecycle, outbox } = openTab({
    async locks() {
      requests += 1;
    },
  });
  await runPendingWork();
  expect(requests).toBe(0);
  const stored = outbox.enqueue(createAdEvent());
  for (const transition of transitions) lifecycle.emit(transition);
  await stored;
  await runPendingWork();
  expect(requests > 0).toBe(mayLead);
});

test('all tabs receive the rewards and count the stored events, no matter which tab sends', async () => {
  const { clock, service, openTab } = openBrowser();
  const [first, second] = [openTab(), openTab()];
  const received: unknown[] = [];
  second.outbox.onRewards((rewards) => received.push(rewards));
  await runPendingWork();
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  await Promise.all([1, 2, 3].map(() => second.outbox.enqueue(createAdEvent())));
  await first.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect([first, second].map(({ outbox }) => outbox.diagnostics().stored)).toEqual([4, 4]);
  service.faults.push(async () => ({ kind: 'unreachable', cause: 'network' }));
  const third = openTab();
  await runPendingWork();
  expect(third.outbox.diagnostics().stored).toBe(4);
  await clock.advance(2_000);
  for (const { outbox } of [first, second, third]) expect(outbox.diagnostics().stored).toBe(0);
  expect(received).toEqual([[{ id: 'dec_1', state: 'pending' }]]);
});

test('ignores unknown messages from another release in another tab', async () => {
  const { openTab, openTabChannel } = openBrowser();
  const { outbox } = openTab();
  for (const message of [0, 'news', { something: 1 }]) openTabChannel('test:outbox').send(message);
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 1 });
});

test('another tab sends if the leader’s store fails', async () => {
  const { service, store, openTab } = openBrowser();
  let isBroken = false;
  const read: typeof store.read = (after) =>
    isBroken ? Promise.reject(new Error('closed for an upgrade')) : store.read(after);
  const first = openTab({ store: { ...store, read, close: () => undefined } });
  const second = openTab();
  await runPendingWork();
  isBroken = true;
  await second.outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
  expect(second.outbox.diagnostics().sent).toBe(1);
  expect(first.outbox.diagnostics().lastError).toBe('Error: closed for an upgrade');
});

test('a tab that is suspended during a request blocks other tabs for at most twenty seconds', async () => {
  const { clock, service, openTab } = openBrowser();
  const resumed = createDeferred();
  const { outbox: first } = openTab();
  service.faults.push(async (batch) => {
    await resumed.promise;
    return service.accept(batch);
  });
  await first.enqueue(createAdEvent('start'));
  await runPendingWork();
  const { outbox: second } = openTab();
  await second.enqueue(createAdEvent('complete'));
  await clock.advance(19_999);
  expect(service.counted).toEqual([]);
  await clock.advance(1);
  expect(service.counted).toEqual(['event-0001', 'event-0002']);
  resumed.resolve();
  await runPendingWork();
  expect(service.counted).toHaveLength(2);
  for (const { stored } of [first.diagnostics(), second.diagnostics()]) expect(stored).toBe(0);
  // The resumed tab can become the leader again.
  await first.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.counted).toHaveLength(3);
  expect(clock.timers()).toBe(0);
});

test('a waiting tab takes over immediately when the sending tab is hidden', async () => {
  const { service, openTab } = openBrowser();
  const first = openTab();
  const resumed = createDeferred();
  service.faults.push(async (batch) => {
    await resumed.promise;
    return service.accept(batch);
  });
  await first.outbox.enqueue(createAdEvent('start'));
  await runPendingWork();
  const second = openTab();
  await second.outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  expect(service.counted).toEqual([]);
  first.lifecycle.emit('hidden');
  await runPendingWork();
  expect(service.counted).toContain('event-0002');
  resumed.resolve();
  await runPendingWork();
});

test('a tab that is hidden after it has sent everything, but before it has looked again, blocks no other', async () => {
  const { service, store, openTab } = openBrowser();
  const looking = createDeferred();
  const first = openTab({
    store: {
      ...store,
      read: (after) =>
        service.counted.length === 0
          ? store.read(after)
          : looking.promise.then(() => store.read(after)),
      close: () => undefined,
    },
  });
  await first.outbox.enqueue(createAdEvent('start'));
  await runPendingWork();
  expect(first.outbox.diagnostics().stored).toBe(0);
  first.lifecycle.emit('hidden');
  const second = openTab();
  await second.outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  expect(service.counted).toHaveLength(2);
  looking.resolve();
  await runPendingWork();
});

test('a hidden tab leaves other tabs’ events to them, until the player returns', async () => {
  const { service, openTab } = openBrowser();
  const [hidden, other] = [openTab(), openTab()];
  await runPendingWork();
  hidden.lifecycle.emit('hidden');
  const resumed = createDeferred();
  service.faults.push(async (batch) => {
    await resumed.promise;
    return service.accept(batch);
  });
  await other.outbox.enqueue(createAdEvent('start'));
  await runPendingWork();
  other.outbox.destroy();
  resumed.resolve();
  await runPendingWork();
  await other.outbox.enqueue(createAdEvent('complete'));
  await runPendingWork();
  expect(hidden.outbox.diagnostics().sent).toBe(0);
  hidden.lifecycle.emit('visible');
  await runPendingWork();
  expect(service.counted).toContain('event-0002');
});

test('a single hidden tab keeps sending', async () => {
  const { service, openTab } = openBrowser();
  const { outbox, lifecycle } = openTab();
  lifecycle.emit('hidden');
  await outbox.enqueue(createAdEvent());
  await runPendingWork();
  expect(service.counted).toHaveLength(1);
});

test('no tab sends while the service throttles one of them', async () => {
  const { clock, service, openTab } = openBrowser();
  const [first, second] = [openTab(), openTab()];
  await runPendingWork();
  service.faults.push(async () => ({ kind: 'retry', status: 429, retryAfterMs: 60_000 }));
  await first.outbox.enqueue(createAdEvent());
  await runPendingWork();
  await second.outbox.enqueue(createAdEvent());
  second.connectivity.reconnect();
  second.lifecycle.emit('hidden');
  second.lifecycle.emit('visible');
  await clock.advance(59_999);
  expect(service.requests).toHaveLength(1);
  await clock.advance(1_001);
  expect(service.counted).toHaveLength(2);
});
