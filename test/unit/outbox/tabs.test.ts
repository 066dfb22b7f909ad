import { expect, test } from 'vitest';
import { adEvent } from '../../support/event-service.ts';
import { settled } from '../../support/manual-clock.ts';
import { openBrowser, recordsIn } from './open-browser.ts';

test('only one tab sends; the others wake it, and one of them takes over', async () => {
  const { service, store, openTab } = openBrowser();
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
  const { openTab } = openBrowser();
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

test('every tab hears the rewards and counts what waits, whichever tab sends', async () => {
  const { clock, service, openTab } = openBrowser();
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
  const { openTab, signal } = openBrowser();
  const { outbox } = openTab();
  for (const strange of [0, 'news', { something: 1 }]) signal('test:outbox').send(strange);
  await outbox.enqueue(adEvent());
  await settled();
  expect(outbox.diagnostics()).toMatchObject({ stored: 0, sent: 1 });
});

test('a tab whose store fails lets another one send', async () => {
  const { service, store, openTab } = openBrowser();
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
