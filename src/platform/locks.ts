import { attempt } from './guard.ts';
import { bounded, type Clock, systemClock } from './clock.ts';

export interface LockOptions {
  /** Steals the lock from its holder instead of waiting. */
  steal?: boolean;
  /** Called when another tab has stolen the lock. */
  onLost?: () => void;
}

/** Locks shared by the tabs of one origin. */
export interface Locks {
  /**
   * Waits for the lock, then calls `onAcquired`. Returns an idempotent function that releases the lock or
   * stops waiting for it. When a tab dies, its lock passes to the next one.
   */
  acquire(name: string, onAcquired: () => void, options?: LockOptions): () => void;
}

/** If the lock is not acquired within this time, the browser is probed for a response; in milliseconds. */
const probeAfterMs = 5_000;

/**
 * Web Locks. If the browser lacks them (old browsers, pages without HTTPS), rejects the request or does not
 * respond, every tab gets the lock: at worst, events are sent twice, and the service counts each id once.
 */
export const browserLocks = (
  manager: LockManager | undefined = attempt(() => navigator.locks),
  clock: Clock = systemClock,
): Locks => ({
  acquire(name, onAcquired, { steal = false, onLost } = {}) {
    const waiting = new AbortController();
    const { signal } = waiting;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let acquired = false;
    const grant = (): Promise<void> => {
      cancelProbe();
      if (!acquired && !signal.aborted) onAcquired();
      acquired = true;
      return held;
    };
    // A browser answers queries while another tab holds the lock. If it does not, go on without the lock.
    const cancelProbe = clock.after(probeAfterMs, () => {
      const response = bounded(
        clock,
        probeAfterMs,
        signal,
        async () => (await manager?.query()) ?? {},
      );
      void response.then((result) => {
        if (result === 'timeout') void grant();
      });
    });
    Promise.resolve()
      // The API rejects `steal` in combination with `signal`.
      .then(() =>
        manager ? manager.request(name, steal ? { steal } : { signal }, grant) : grant(),
      )
      // Rejected, stolen by another tab, or no longer waited for.
      .catch(() => (acquired && !signal.aborted ? onLost?.() : grant()));
    return () => {
      cancelProbe();
      waiting.abort();
      release();
    };
  },
});

/** Elects the one tab that does shared work. */
export interface LeaderElection {
  /**
   * Runs `work` while this tab holds the lock, then releases the lock. Skips `work` if `resign()` is called
   * first or if this tab may not lead.
   */
  lead(work: () => Promise<void>): Promise<void>;
  /** Whether this tab holds the lock. Another tab may steal it at any time. */
  isLeader(): boolean;
  /** Releases the lock, or stops waiting for it. */
  resign(): void;
}

/**
 * How long a tab waits for the lock before it steals it, in milliseconds. Twice the request timeout: a running
 * tab has released it by then, unless it has a long backlog; one batch is then sent twice and counted once. A
 * suspended tab never releases the lock, and only Chromium notifies a page before freezing it.
 */
const stealAfterMs = 20_000;

/** Creates the {@link LeaderElection} among the tabs that share `name`. */
export function createLeaderElection({
  name,
  locks,
  clock,
  mayLead,
}: {
  name: string;
  locks: Locks;
  clock: Clock;
  mayLead(): boolean;
}): LeaderElection {
  let isLeader = false;
  let resign = (): void => undefined;

  const acquire = (): Promise<boolean> =>
    new Promise((resolve) => {
      const onAcquired = (): void => {
        cancelSteal();
        isLeader = true;
        resolve(true);
      };
      const onLost = (): void => {
        isLeader = false;
      };
      const cancelSteal = clock.after(stealAfterMs, () => {
        release();
        release = locks.acquire(name, onAcquired, { steal: true, onLost });
      });
      let release = locks.acquire(name, onAcquired, { onLost });
      resign = () => {
        cancelSteal();
        release();
        isLeader = false;
        resolve(false);
      };
    });

  return {
    async lead(work) {
      if (!mayLead() || !(await acquire())) return;
      try {
        await work();
      } finally {
        resign();
      }
    },
    isLeader: () => isLeader,
    resign: () => resign(),
  };
}
