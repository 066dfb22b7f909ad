import type { Clock } from '../platform/clock.ts';
import { callGuarded } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';

/** Runs callbacks on the game's frames, a few at a time, to avoid dropped frames. */
export interface FrameQueue {
  /** Calls `callback` on one of the next frames, after everything that was pushed before it. */
  push(callback: () => void): void;
  /** Discards all waiting callbacks. */
  destroy(): void;
}

/** Maximum number of callbacks per frame. */
const maxPerFrame = 4;
/** Time budget per frame, in milliseconds. When it is used up, the remaining callbacks wait for the next frame. */
const budgetMs = 2;

/** Listens to frames only while callbacks are queued. */
export function createFrameQueue(
  driver: EngineDriver,
  clock: Pick<Clock, 'monotonic'>,
): FrameQueue {
  let queue: (() => void)[] = [];
  let detach: (() => void) | undefined;

  function stop(): void {
    detach?.();
    detach = undefined;
  }

  function deliver(): void {
    const end = clock.monotonic() + budgetMs;
    for (let count = 0; count < maxPerFrame; count += 1) {
      const callback = queue.shift();
      if (callback === undefined) break;
      callGuarded(callback);
      if (clock.monotonic() >= end) break;
    }
    if (queue.length === 0) stop();
  }

  return {
    push(callback) {
      queue.push(callback);
      detach ??= driver.onFrame(deliver);
    },
    destroy() {
      queue = [];
      stop();
    },
  };
}
