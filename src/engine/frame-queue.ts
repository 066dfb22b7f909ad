import type { Clock } from '../platform/clock.ts';
import { guarded } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';

/** Calls the game on its own frame, a few callbacks at a time, so that no frame is lost to them. */
export interface FrameQueue {
  /** Calls `callback` on a coming frame, after everything that was pushed before it. */
  push(callback: () => void): void;
  /** Discards all waiting callbacks. */
  destroy(): void;
}

/** The most callbacks in one frame. */
const maxPerFrame = 4;
/** Once a frame has spent this much, the remaining callbacks wait for the next one; in milliseconds. */
const budgetMs = 2;

/** An idle queue costs nothing: it listens to frames only while something waits. */
export function createFrameQueue(
  driver: EngineDriver,
  clock: Pick<Clock, 'monotonic'>,
): FrameQueue {
  let waiting: (() => void)[] = [];
  let detach: (() => void) | undefined;

  function stop(): void {
    detach?.();
    detach = undefined;
  }

  function deliver(): void {
    const end = clock.monotonic() + budgetMs;
    for (let count = 0; count < maxPerFrame; count += 1) {
      const callback = waiting.shift();
      if (callback === undefined) break;
      guarded(callback);
      if (clock.monotonic() >= end) break;
    }
    if (waiting.length === 0) stop();
  }

  return {
    push(callback) {
      waiting.push(callback);
      detach ??= driver.onFrame(deliver);
    },
    destroy() {
      waiting = [];
      stop();
    },
  };
}
