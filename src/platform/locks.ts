import { attempt } from './guard.ts';
import { type Clock, runWithTimeout, systemClock } from './clock.ts';
import { listen, native } from './native.ts';

/**
 * Waits for the lock `name`, which all tabs with the same origin share, and holds it until `signal` aborts. Resolves
 * when this tab holds the lock, when it has waited long enough, or when `signal` aborts. When a tab dies, the next
 * waiting tab gets its lock.
 */
export type Locks = (name: string, signal: AbortSignal) => Promise<void>;

/**
 * How long a tab waits for the lock before it goes on without it, in milliseconds. A suspended tab never releases its
 * lock, only Chromium notifies a page before freezing it, and some browsers never respond. The wait is twice the
 * request timeout. A running tab releases the lock sooner, unless it has a long backlog. At worst, events are sent
 * twice, but the service counts each id once.
 */
const maxWaitMs = 20_000;

/**
 * Creates {@link Locks} from Web Locks. If they are unavailable (old browsers, insecure contexts) or the browser rejects
 * the request, the tab goes on without the lock.
 */
export const browserLocks =
  (
    manager: LockManager | undefined = attempt(() => navigator.locks),
    clock: Clock = systemClock,
  ): Locks =>
  (name, signal) =>
    new Promise((resolve) => {
      const waiting = new native.AbortController();
      const proceed = (): void => {
        cancelTimer();
        resolve();
      };
      const stopWaiting = (): void => {
        waiting.abort();
        proceed();
      };
      const cancelTimer = clock.after(maxWaitMs, stopWaiting);
      listen(signal, 'abort', stopWaiting);
      const hold = (): Promise<void> | undefined => {
        // The browser may grant the lock at the moment this tab stops waiting for it.
        if (waiting.signal.aborted) return undefined;
        proceed();
        return new Promise((release) => listen(signal, 'abort', () => release()));
      };
      const request = async (): Promise<unknown> =>
        manager?.request(name, { signal: waiting.signal }, hold);
      request().then(proceed, proceed);
    });

/** Shows other tabs that this one is alive. */
export interface Presence {
  /** Holds a lock with a new name until `ended` resolves. Resolves to the name, or to undefined without Web Locks. */
  show(ended: Promise<void>): Promise<string | undefined>;
  /** Whether the tab that holds the lock of this name is gone. False if that isn't known. */
  isGone(name: string): Promise<boolean>;
}

/** How long a tab waits for the browser's answer, in milliseconds. A lock that nobody else wants is granted at once. */
const maxAnswerMs = 1_000;

/** Creates {@link Presence} from Web Locks: the browser releases a tab's locks when the tab ends, however it ends. */
export const browserPresence = (
  newId: () => string,
  manager: LockManager | undefined = attempt(() => navigator.locks),
  clock: Clock = systemClock,
): Presence => ({
  show: (ended) =>
    new Promise((resolve) => {
      const name = `trueward:tab:${newId()}`;
      const answer = (held?: string): void => {
        cancelTimer();
        resolve(held);
      };
      const giveUp = (): void => answer();
      const cancelTimer = clock.after(maxAnswerMs, giveUp);
      const hold = (): Promise<void> => {
        answer(name);
        return ended;
      };
      const request = async (): Promise<unknown> => manager?.request(name, hold);
      request().then(giveUp, giveUp);
    }),
  async isGone(name) {
    const query = async () => (await manager?.query())?.held ?? false;
    const held = await runWithTimeout(clock, maxAnswerMs, undefined, query);
    return Array.isArray(held) && !held.some((lock) => lock.name === name);
  },
});
