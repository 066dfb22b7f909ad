import type { Clock } from '../../src/platform/clock.ts';

/** A clock that a test advances. Wall time and monotonic time are independent, as on a device. */
export interface ManualClock extends Clock {
  /** Advances both times and runs each timer when it is due. */
  advance(ms: number): Promise<void>;
  /** Advances to the next timer and runs it. Resolves to `false` if no timer is set. */
  runNextTimer(): Promise<boolean>;
  /** Makes the device sleep. Wall time advances, but monotonic time and timers stop. */
  sleep(ms: number): void;
  /**
   * Freezes the page. Both times advance. Timers that become due during the freeze run late, at the next `advance()`.
   * This is also how a device sleeps on Windows, where monotonic time includes sleep.
   */
  freeze(ms: number): void;
  /**
   * Sets the device's clock the way a user would. Takes milliseconds since the Unix epoch. Monotonic time does not
   * change.
   */
  setWallTime(ms: number): void;
  /** Number of timers that are set and due within `ms`, any time by default. */
  timers(ms?: number): number;
  /** Milliseconds until the next timer is due; `undefined` if none is set. */
  msToNextTimer(): number | undefined;
}

/** Runs all pending work that does not wait for one of the manual clock's timers. */
export const runPendingWork = async (): Promise<void> => {
  for (let tick = 0; tick < 5; tick++)
    await new Promise<void>((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        resolve();
      };
      channel.port2.postMessage(0);
    });
};

/** Creates a clock that starts at `start`, in milliseconds since the Unix epoch. */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  /** Wall time at the origin of monotonic time. */
  let origin = start;
  let elapsed = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  // The sort is stable, so timers that are due at the same time run in the order in which they were set.
  const findNextTimer = () => [...timers].sort((a, b) => a.at - b.at)[0];

  async function advanceTo(end: number): Promise<void> {
    for (;;) {
      await runPendingWork();
      const dueTimer = findNextTimer();
      if (dueTimer === undefined || dueTimer.at > end) break;
      timers.delete(dueTimer);
      elapsed = Math.max(elapsed, dueTimer.at);
      dueTimer.callback();
    }
    elapsed = Math.max(elapsed, end);
    await runPendingWork();
  }

  return {
    now: () => origin + elapsed,
    monotonic: () => elapsed,
    after(ms, callback) {
      const timer = { at: elapsed + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => advanceTo(elapsed + ms),
    async runNextTimer() {
      await runPendingWork();
      const dueTimer = findNextTimer();
      if (dueTimer !== undefined) await advanceTo(dueTimer.at);
      return dueTimer !== undefined;
    },
    sleep(ms) {
      origin += ms;
    },
    freeze(ms) {
      elapsed += ms;
    },
    setWallTime(ms) {
      origin = ms - elapsed;
    },
    timers: (ms = Number.POSITIVE_INFINITY) =>
      [...timers].filter(({ at }) => at <= elapsed + ms).length,
    msToNextTimer: () => {
      const dueTimer = findNextTimer();
      return dueTimer && dueTimer.at - elapsed;
    },
  };
}
