import type { Clock } from '../platform/clock.ts';
import { afterPaint } from './after-paint.ts';
import type { RendererEvent } from './renderer.ts';

const tickMs = 250;

/** Lets a creative without a length of its own run for a while of visible time. */
export interface Exposure {
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** Tells `painted` after the next frame, `progress` four times a second, and `ended`. */
export function startExposure(
  clock: Clock,
  durationMs: number,
  listener: (event: RendererEvent) => void,
): Exposure {
  let watchedMs = 0;
  let running = true;
  let last = 0;
  let cancelTick: (() => void) | undefined;
  const cancelPaint = afterPaint(() => {
    last = clock.monotonic();
    cancelTick = clock.after(tickMs, tick);
    listener({ type: 'painted' });
  });

  function tick(): void {
    const now = clock.monotonic();
    // A late tick means that the page slept; what nobody saw does not count.
    if (running && !document.hidden) watchedMs += Math.min(now - last, tickMs * 4);
    last = now;
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
      last = clock.monotonic();
    },
    destroy() {
      cancelPaint();
      cancelTick?.();
    },
  };
}
