import type { Clock } from '../platform/clock.ts';
import { native } from '../platform/native.ts';
import { afterPaint } from './screen.ts';
import type { RendererEvent } from './renderer.ts';

const tickMs = 250;
/** Maximum watch time to count for one tick, in milliseconds. A busy page can delay a tick. */
const maxTickMs = 1_000;
/** If more than this many milliseconds pass between two ticks, the device slept or the page was suspended. */
const minSleepMs = 10_000;

/** Measures how long a creative that has no duration of its own has been visible. */
export interface Exposure {
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** Reports `painted` after the next frame, then `progress` four times a second, and finally `ended`. */
export function startExposure(
  clock: Clock,
  durationMs: number,
  listener: (event: RendererEvent) => void,
): Exposure {
  let watchedMs = 0;
  let running = true;
  let lastTickAtMs = 0;
  let cancelTick: (() => void) | undefined;
  const cancelPaint = afterPaint(() => {
    lastTickAtMs = clock.monotonic();
    cancelTick = clock.after(tickMs, tick);
    listener({ type: 'painted' });
  });

  function tick(): void {
    const now = clock.monotonic();
    const elapsedMs = now - lastTickAtMs;
    // The ad may have been visible for up to one tick before the device went to sleep.
    if (running && !native.isHidden()) {
      watchedMs += elapsedMs > minSleepMs ? tickMs : Math.min(elapsedMs, maxTickMs);
    }
    lastTickAtMs = now;
    const ended = watchedMs >= durationMs;
    if (!ended) cancelTick = clock.after(tickMs, tick);
    listener({ type: 'progress', watchedMs: Math.round(watchedMs), durationMs });
    if (ended) listener({ type: 'ended' });
  }

  return {
    pause() {
      running = false;
    },
    resume() {
      running = true;
      lastTickAtMs = clock.monotonic();
    },
    destroy() {
      cancelPaint();
      cancelTick?.();
    },
  };
}
