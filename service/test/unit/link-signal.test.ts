import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { linkSignal } from '../../src/platform/bounded-request.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('a linked signal aborts with its parent’s reason', () => {
  const parent = new AbortController();
  const linked = linkSignal(parent.signal);
  parent.abort(new Error('stopping'));
  expect(linked.signal.reason).toBe(parent.signal.reason);
  expect(linkSignal(parent.signal).signal.reason).toBe(parent.signal.reason);
});

test('aborting a linked signal does not abort its parent', () => {
  const parent = new AbortController();
  const linked = linkSignal(parent.signal);
  linked.abort();
  expect([linked.signal.aborted, parent.signal.aborted]).toEqual([true, false]);
});

test('a linked signal aborts with a TimeoutError after its timeout', async () => {
  const { signal } = linkSignal(new AbortController().signal, { timeoutMs: 1 });
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('linked signals share one listener, and a released one no longer follows its parent', () => {
  const parent = new AbortController();
  const linked = Array.from({ length: 20 }, () => linkSignal(parent.signal, { timeoutMs: 60_000 }));
  expect(listeners(parent.signal)).toBe(1);
  for (const link of linked) link.release();
  parent.abort();
  expect(linked.some(({ signal }) => signal.aborted)).toBe(false);
});
