import type { Clock } from '../platform/clock.ts';
import type { Locks } from '../platform/locks.ts';

/** Elects the one tab that may send the shared events. */
export interface Lead {
  /**
   * Runs `work` once this tab holds the lock, then releases it. Skips `work` if `release()` is called first or
   * if this tab may not lead.
   */
  run(work: () => Promise<void>): Promise<void>;
  /** Whether this tab holds the lock. Another tab may steal it at any time. */
  isHeld(): boolean;
  /** Releases the lock, or stops waiting for it. */
  release(): void;
}

/**
 * How long a tab waits for the lock before it steals it, in milliseconds. Twice the request timeout: a running
 * tab has released it by then, unless it has a long backlog; one batch is then sent twice and counted once. A
 * suspended tab never releases the lock, and only Chromium notifies a page before freezing it.
 */
const stealAfterMs = 20_000;

/** Creates the {@link Lead} of the tabs that share `name`. */
export function createLead({
  name,
  locks,
  clock,
  mayLead,
}: {
  name: string;
  locks: Locks;
  clock: Clock;
  mayLead(): boolean;
}): Lead {
  let held = false;
  let release = (): void => undefined;

  const acquire = (): Promise<boolean> =>
    new Promise((resolve) => {
      const begin = (): void => {
        cancelTimer();
        held = true;
        resolve(true);
      };
      const lost = (): void => {
        held = false;
      };
      const cancelTimer = clock.after(stealAfterMs, () => {
        cancelRequest();
        cancelRequest = locks.acquire(name, begin, { steal: true, onLost: lost });
      });
      let cancelRequest = locks.acquire(name, begin, { onLost: lost });
      release = () => {
        cancelTimer();
        cancelRequest();
        held = false;
        resolve(false);
      };
    });

  return {
    async run(work) {
      if (!mayLead() || !(await acquire())) return;
      try {
        await work();
      } finally {
        release();
      }
    },
    isHeld: () => held,
    release: () => release(),
  };
}
