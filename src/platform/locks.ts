import { attempt } from './guard.ts';
import { runWithTimeout, type Clock, systemClock } from './clock.ts';

export interface LockOptions {
  /** Steals the lock from its holder instead of waiting. */
  steal?: boolean;
  /** Called when another tab has stolen the lock. */
  onLost?: () => void;
}

/** Locks shared by all tabs with the same origin. */
export interface Locks {
  /**
   * Waits for the lock, then calls `onAcquired`. Returns a function that releases the lock or stops waiting for it.
   * That function may be called more than once. When a tab dies, the next waiting tab acquires its lock.
   */
  acquire(name: string, onAcquired: () => void, options?: LockOptions): () => void;
}

/** How long to wait for the lock before checking whether the browser is responding, in milliseconds. */
const probeDelayMs = 5_000;

/**
 * Creates {@link Locks} from Web Locks. They may be unavailable (old browsers, insecure contexts), or the browser may
 * reject a request or never respond. In those cases, every tab acquires the lock. At worst, events are sent twice, but
 * the service counts each id once.
 */
export const browserLocks = (
  manager: LockManager | undefined = attempt(() => navigator.locks),
  clock: Clock = systemClock,
): Locks => ({
  acquire(name, onAcquired, { steal = false, onLost } = {}) {
    const waitController = new AbortController();
    const { signal } = waitController;
    let release = (): void => undefined;
    const untilReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    let acquired = false;
    const grant = (): Promise<void> => {
      cancelProbe();
      if (!acquired && !signal.aborted) onAcquired();
      acquired = true;
      return untilReleased;
    };
    // A working browser responds to `query()` even while another tab holds the lock. If there is no response, this tab
    // continues without the lock.
    const cancelProbe = clock.after(probeDelayMs, () => {
      const response = runWithTimeout(
        clock,
        probeDelayMs,
        signal,
        async () => (await manager?.query()) ?? {},
      );
      void response.then((result) => {
        if (result === 'timeout') void grant();
      });
    });
    Promise.resolve()
      // The API does not allow combining `steal` with `signal`.
      .then(() =>
        manager ? manager.request(name, steal ? { steal } : { signal }, grant) : grant(),
      )
      // The browser rejected the request, another tab stole the lock, or the wait was aborted.
      .catch(() => (acquired && !signal.aborted ? onLost?.() : grant()));
    return () => {
      cancelProbe();
      waitController.abort();
      release();
    };
  },
});

/** Elects the tab that does shared work. */
export interface LeaderElection {
  /**
   * Runs `work` while this tab holds the lock, then releases the lock. Skips `work` if `resign()` is called
   * first or if `mayLead()` returns false.
   */
  lead(work: () => Promise<void>): Promise<void>;
  /** Whether this tab holds the lock. Another tab may steal it at any time. */
  isLeader(): boolean;
  /** Releases the lock, or stops waiting for it. */
  resign(): void;
}

/**
 * How long a tab waits for the lock before it steals the lock, in milliseconds. Stealing is necessary because a
 * suspended tab never releases the lock, and only Chromium notifies a page before freezing it. The delay is twice the
 * request timeout. A running tab releases the lock sooner, unless it has a long backlog. In that case, one batch is
 * sent twice but counted once.
 */
const stealDelayMs = 20_000;

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
      const cancelSteal = clock.after(stealDelayMs, () => {
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
