import type { Clock } from '../platform/clock.ts';
import type { Locks } from '../platform/locks.ts';

/** Lets one tab at a time send what all of them share. */
export interface Lead {
  /** Runs `work` once this tab holds the lock, and gives it back; does not run it when `release()` comes first, or this tab may not lead. */
  run(work: () => Promise<void>): Promise<void>;
  /** Whether this tab holds the lock. Another tab may take it away at any time. */
  isHeld(): boolean;
  /** Gives the lock back, or stops waiting for it. */
  release(): void;
}

/**
 * How long a tab waits for its turn before it takes the lock from whoever holds it, in milliseconds.
 * Twice the time that a request may take: a tab that runs has given it back by then, unless it
 * has a long backlog, of which one batch is then sent twice and counted once. A suspended tab gives nothing
 * back, and only Chromium tells a page that it will be frozen.
 */
const patienceMs = 20_000;

/** Makes the {@link Lead} of the tabs that share `name`. */
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
      const cancelTimer = clock.after(patienceMs, () => {
        giveBack();
        giveBack = locks.acquire(name, begin, { steal: true, onLost: lost });
      });
      let giveBack = locks.acquire(name, begin, { onLost: lost });
      release = () => {
        cancelTimer();
        giveBack();
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
