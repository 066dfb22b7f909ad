import type { Clock } from '../platform/clock.ts';
import { callGuarded } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';

/** Runs callbacks during the game's frames, a few per frame, to avoid dropped frames. */
export interface FrameQueue {
  /** Calls `callback` in one of the next frames, after all callbacks that were queued before it. */
  push(callback: () => void): void;
  /** Discards all waiting callbacks. */
  destroy(): void;
}

/** Maximum number of callbacks per frame. */
const maxPerFrame = 4;
/** Time budget per frame, in milliseconds. The remaining callbacks wait for the next frame. */
const budgetMs = 2;

/** Creates a {@link FrameQueue}, which listens for frames only while callbacks are queued. */
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

  function runCallbacks(): void {
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
      detach ??= driver.onFrame(runCallbacks);
    },
    destroy() {
      queue = [];
      stop();
    },
  };
}
