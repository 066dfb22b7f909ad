import type { Clock } from '../platform/clock.ts';

/** How much of an ad was visible, and for how long without a break. */
export interface Visibility {
  /** Share of its pixels on screen, 0 to 1. */
  ratio: number;
  ms: number;
}

export interface ViewabilityWatch {
  /** A video that stands still is not being seen, by the MRC's definition. */
  setPlaying(playing: boolean): void;
  destroy(): void;
}

const leastRatio = 0.5;

/**
 * Tells once when at least half of the element's pixels have been visible for `requiredMs` without a
 * break: 1 s for display, 2 s of playback for video
 * ({@link https://www.mediaratingcouncil.org | MRC viewable impression}).
 */
export function watchViewability(
  element: Element,
  options: { clock: Clock; requiredMs: number; onViewable: (visibility: Visibility) => void },
): ViewabilityWatch {
  const { clock, requiredMs, onViewable } = options;
  let ratio = 0;
  let playing = true;
  let over = false;
  let cancel: (() => void) | undefined;
  const observer = new IntersectionObserver(
    (entries) => {
      ratio = entries.at(-1)?.intersectionRatio ?? 0;
      check();
    },
    { threshold: [0, leastRatio, 1] },
  );

  function destroy(): void {
    over = true;
    observer.disconnect();
    document.removeEventListener('visibilitychange', check);
    cancel?.();
    cancel = undefined;
  }

  function check(): void {
    if (over || !playing || document.hidden || ratio < leastRatio) {
      cancel?.();
      cancel = undefined;
    } else if (cancel === undefined) {
      const since = clock.monotonic();
      cancel = clock.after(requiredMs, () => {
        destroy();
        onViewable({ ratio, ms: Math.round(clock.monotonic() - since) });
      });
    }
  }

  observer.observe(element);
  document.addEventListener('visibilitychange', check);
  return {
    setPlaying(value) {
      playing = value;
      check();
    },
    destroy,
  };
}
