import type { Clock } from '../../src/platform/clock.ts';

/** A clock that a test moves. */
export interface ManualClock extends Clock {
  /** Moves time on, running each timer that falls due at its time. */
  advance(ms: number): Promise<void>;
  /** How many timers wait. */
  timers(): number;
}

/** Lets everything run that does not wait for a timer of this clock. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++)
    await new Promise<void>((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        resolve();
      };
      channel.port2.postMessage(0);
    });
};

/** Makes a clock that stands at `start`, in milliseconds since 1970. */
export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsed = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, callback) {
      const timer = { at: elapsed + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const end = elapsed + ms;
      for (;;) {
        await settled();
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        elapsed = Math.max(elapsed, due.at);
        due.callback();
      }
      elapsed = end;
      await settled();
    },
    timers: () => timers.size,
  };
}
