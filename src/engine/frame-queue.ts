import type { Clock } from '../platform/clock.ts';
import { guarded } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';

/** Calls the game on its own frame, a few callbacks at a time, so that no frame is lost to them. */
export interface FrameQueue {
  /** Calls `callback` on a coming frame, after everything that was pushed before it. */
  push(callback: () => void): void;
  /** Forgets what still waits. */
  destroy(): void;
}

export interface FrameQueueOptions {
  /** Most callbacks in one frame. Default: 4. */
  maxPerFrame?: number;
  /** No further callback is begun once a frame has spent this, in milliseconds. Default: 2. */
  budgetMs?: number;
}

/** An idle queue costs nothing: it listens to frames only while something waits. */
export function createFrameQueue(
  driver: EngineDriver,
  clock: Pick<Clock, 'monotonic'>,
  { maxPerFrame = 4, budgetMs = 2 }: FrameQueueOptions = {},
): FrameQueue {
  let waiting: (() => void)[] = [];
  let detach: (() => void) | undefined;

  function stop(): void {
    detach?.();
    detach = undefined;
  }

  function deliver(): void {
    if (driver.isRendering()) return;
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
