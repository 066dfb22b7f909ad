import { expect, test, vi } from 'vitest';
import { newRandomId } from '../../../src/platform/ids.ts';
import { browserLocks, type Locks } from '../../../src/platform/locks.ts';
import { browserPageLifecycle, type PageTransition } from '../../../src/platform/page.ts';
import { browserTabChannel } from '../../../src/platform/page.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/eventually.ts';

/** Waits for a lock. Returns when it was acquired, and how to release it. */
function acquire(locks: Locks, name: string) {
  const controller = new AbortController();
  const onAcquired = vi.fn();
  void locks(name, controller.signal).then(onAcquired);
  return { onAcquired, release: () => controller.abort() };
}

test('a lock has one holder and passes to the next waiting tab', async () => {
  const name = newRandomId();
  const [first, second, third] = [1, 2, 3].map(() => acquire(browserLocks(), name));
  await eventually(() => expect(first?.onAcquired).toHaveBeenCalled());
  second?.release();
  await eventually(() => expect(second?.onAcquired).toHaveBeenCalled());
  expect(third?.onAcquired).not.toHaveBeenCalled();
  first?.release();
  await eventually(() => expect(third?.onAcquired).toHaveBeenCalled());
  third?.release();
  // This would never resolve if a lock were still held.
  expect(await navigator.locks.request(name, () => 'free')).toBe('free');
});

test('every tab goes on without the lock if Web Locks are missing or reject the request', async () => {
  const rejecting = {
    request: () => Promise.reject(new DOMException('sandboxed', 'SecurityError')),
  } as unknown as LockManager;
  vi.spyOn(navigator, 'locks', 'get').mockReturnValue(undefined as unknown as LockManager);
  for (const locks of [browserLocks(), browserLocks(rejecting)]) {
    const { onAcquired } = acquire(locks, 'any');
    await eventually(() => expect(onAcquired).toHaveBeenCalledOnce());
  }
});

test('a tab that has waited for twenty seconds goes on without the lock, and does not take it later', async () => {
  const name = newRandomId();
  const clock = createManualClock();
  const holder = acquire(browserLocks(), name);
  await eventually(() => expect(holder.onAcquired).toHaveBeenCalled());
  const { onAcquired } = acquire(browserLocks(navigator.locks, clock), name);
  await clock.advance(19_999);
  expect(onAcquired).not.toHaveBeenCalled();
  await clock.advance(1);
  expect(onAcquired).toHaveBeenCalledOnce();
  expect(clock.timers()).toBe(0);
  holder.release();
  expect(await navigator.locks.request(name, () => 'free')).toBe('free');
});

test('a lock that is granted after the wait is released at once', async () => {
  const clock = createManualClock();
  let grantLock: LockGrantedCallback<unknown> = () => undefined;
  const late = {
    request: (_name: string, _options: LockOptions, granted: LockGrantedCallback<unknown>) => {
      grantLock = granted;
      return new Promise(() => undefined);
    },
  } as unknown as LockManager;
  const { release } = acquire(browserLocks(late, clock), 'any');
  await clock.advance(0);
  release();
  expect(clock.timers()).toBe(0);
  expect(grantLock(null)).toBeUndefined();
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
