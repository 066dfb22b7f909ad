import { attempt } from './guard.ts';
import { bounded, type Clock, systemClock } from './clock.ts';

export interface LockOptions {
  /** Steals the lock from its holder instead of waiting. */
  steal?: boolean;
  /** Called when another tab has stolen the lock. */
  onLost?: () => void;
}

/** Locks between the tabs of one origin. */
export interface Locks {
  /**
   * Waits for the lock, then calls `begin` in this tab alone. The function that it returns gives the
   * lock back, or stops waiting; it may be called twice. When a tab dies, the next one gets its lock.
   */
  acquire(name: string, begin: () => void, options?: LockOptions): () => void;
}

/** A lock that is not granted by then is another tab's, or the browser does not answer; in milliseconds. */
const silentMs = 5_000;

/**
 * Web Locks. Where the browser has none (old ones, and pages without HTTPS), refuses them or does not answer,
 * every tab gets the lock: events are then sent twice at worst, and the service counts each id once.
 */
export const browserLocks = (
  manager: LockManager | undefined = attempt(() => navigator.locks),
  clock: Clock = systemClock,
): Locks => ({
  acquire(name, begin, { steal = false, onLost } = {}) {
    const waiting = new AbortController();
    const { signal } = waiting;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = false;
    const granted = (): Promise<void> => {
      cancelTimer();
      if (!begun && !signal.aborted) begin();
      begun = true;
      return held;
    };
    // While another tab holds the lock, the browser still answers; one that does not is done without.
    const cancelTimer = clock.after(silentMs, () => {
      const answered = bounded(clock, silentMs, signal, async () => (await manager?.query()) ?? {});
      void answered.then((answer) => {
        if (answer === 'timeout') void granted();
      });
    });
    Promise.resolve()
      // `steal` and `signal` exclude each other.
      .then(() =>
        manager ? manager.request(name, steal ? { steal } : { signal }, granted) : granted(),
      )
      // Refused, taken by another tab, or no longer waited for.
      .catch(() => (begun && !signal.aborted ? onLost?.() : granted()));
    return () => {
      cancelTimer();
      waiting.abort();
      release();
    };
  },
});
