import { expect, test, vi } from 'vitest';
import { newRandomId } from '../../../src/platform/ids.ts';
import { browserLocks } from '../../../src/platform/locks.ts';
import { browserPageLifecycle, type PageTransition } from '../../../src/platform/page.ts';
import { browserTabChannel } from '../../../src/platform/page.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/eventually.ts';

test('a lock has one holder and passes to the next waiting tab', async () => {
  const name = newRandomId();
  const holders: number[] = [];
  const [first, second, third] = [1, 2, 3].map((tab) =>
    browserLocks().acquire(name, () => holders.push(tab)),
  );
  await eventually(() => expect(holders).toEqual([1]));
  second?.();
  first?.();
  first?.();
  await eventually(() => expect(holders).toEqual([1, 3]));
  third?.();
  // This would never resolve if the lock were still held.
  expect(await navigator.locks.request(name, () => 'free')).toBe('free');
});

test('every tab acquires the lock if Web Locks are missing or reject the request', async () => {
  const rejecting = {
    request: () => Promise.reject(new DOMException('sandboxed', 'SecurityError')),
  } as unknown as LockManager;
  vi.spyOn(navigator, 'locks', 'get').mockReturnValue(undefined as unknown as LockManager);
  for (const locks of [browserLocks(), browserLocks(rejecting)]) {
    const onAcquired = vi.fn();
    locks.acquire('any', onAcquired);
    await eventually(() => expect(onAcquired).toHaveBeenCalledOnce());
  }
});

test('every tab acquires the lock after ten seconds if Web Locks do not respond', async () => {
  const clock = createManualClock();
  let grantLock: LockGrantedCallback<unknown> = () => undefined;
  const unresponsive = {
    request: (_name: string, _options: LockOptions, granted: LockGrantedCallback<unknown>) => {
      grantLock = granted;
      return new Promise(() => undefined);
    },
    query: () => new Promise(() => undefined),
  } as unknown as LockManager;
  const onAcquired = vi.fn();
  const released = vi.fn();
  const release = browserLocks(unresponsive, clock).acquire('any', onAcquired);
  browserLocks(unresponsive, clock).acquire('any', released)();
  await clock.advance(9_999);
  expect(onAcquired).not.toHaveBeenCalled();
  await clock.advance(1);
  void grantLock(null);
  expect(onAcquired).toHaveBeenCalledTimes(1);
  expect(released).not.toHaveBeenCalled();
  expect(clock.timers()).toBe(0);
  release();
});

test('a tab waits indefinitely for a lock that another tab holds', async () => {
  const name = newRandomId();
  const clock = createManualClock();
  const onHeld = vi.fn();
  const release = browserLocks().acquire(name, onHeld);
  await eventually(() => expect(onHeld).toHaveBeenCalled());
  const onAcquired = vi.fn();
  browserLocks(navigator.locks, clock).acquire(name, onAcquired);
  await clock.advance(5_000);
  await navigator.locks.query();
  await eventually(() => expect(clock.timers()).toBe(0));
  await clock.advance(3_600_000);
  expect(onAcquired).not.toHaveBeenCalled();
  release();
  await eventually(() => expect(onAcquired).toHaveBeenCalledTimes(1));
});

test('a lock request that is released before it is granted never acquires the lock', async () => {
  const onAcquired = vi.fn();
  browserLocks().acquire(newRandomId(), onAcquired)?.();
  await navigator.locks.query();
  expect(onAcquired).not.toHaveBeenCalled();
});

test('reports the page’s lifecycle events until it is unsubscribed', () => {
  const transitions: PageTransition[] = [];
  const off = browserPageLifecycle.onTransition((transition) => transitions.push(transition));
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }));
  document.dispatchEvent(new Event('freeze'));
  document.dispatchEvent(new Event('resume'));
  document.dispatchEvent(new Event('visibilitychange'));
  const visibility = document.visibilityState === 'visible' ? 'visible' : 'hidden';
  expect(transitions).toEqual(['leaving', 'returned', 'frozen', 'returned', visibility]);
  off();
  document.dispatchEvent(new Event('freeze'));
  expect(transitions).toHaveLength(5);
});

test('a message reaches all tabs except the one that sent it', async () => {
  const name = newRandomId();
  const [ownChannel, otherChannel] = [
    browserTabChannel<{ n: number }>(name),
    browserTabChannel(name),
  ];
  const ownListener = vi.fn();
  ownChannel.onMessage(ownListener);
  const received = new Promise((resolve) => otherChannel.onMessage(resolve));
  ownChannel.send({ n: 1 });
  expect(await received).toEqual({ n: 1 });
  expect(ownListener).not.toHaveBeenCalled();
  ownChannel.close();
  otherChannel.close();
});
