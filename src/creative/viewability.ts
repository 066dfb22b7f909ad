import { attempt } from '../platform/guard.ts';
import type { Clock } from '../platform/clock.ts';

/** How much of an ad was visible, and for how long without interruption. */
export interface Visibility {
  /** Share of the ad's pixels that were on the screen, from 0 to 1. */
  ratio: number;
  ms: number;
}

export interface ViewabilityWatch {
  /** Sets whether the ad is playing. According to the MRC's definition, a paused or stalled video is not viewable. */
  setPlaying(playing: boolean): void;
  destroy(): void;
}

const minRatio = 0.5;
/** How often to check whether something covers the element, in milliseconds. */
const checkIntervalMs = 200;
/** If more than this many milliseconds pass between two checks, the device slept or the page was suspended. */
const minSleepMs = 10_000;

/**
 * Reports once when at least half of the element's pixels have been continuously visible for `requiredMs`: 1 s for
 * display, 2 s of playback for video ({@link https://www.mediaratingcouncil.org | MRC viewable impression}).
 */
export function watchViewability(
  element: Element,
  options: { clock: Clock; requiredMs: number; onViewable: (visibility: Visibility) => void },
): ViewabilityWatch {
  const { clock, requiredMs, onViewable } = options;
  let observedRatio: number | undefined;
  let playing = true;
  let isDone = false;
  let visibleSinceMs: number | undefined;
  let checkedAt = -Infinity;
  let cancel: (() => void) | undefined;
  const observer = attempt(() => {
    const intersectionObserver = new IntersectionObserver(
      (entries) => {
        observedRatio = entries.at(-1)?.intersectionRatio ?? 0;
        check();
      },
      { threshold: [0, minRatio, 1] },
    );
    intersectionObserver.observe(element);
    return intersectionObserver;
  });

  function destroy(): void {
    isDone = true;
    observer?.disconnect();
    document.removeEventListener('visibilitychange', check);
    cancel?.();
  }

  function check(): void {
    cancel?.();
    if (isDone) return;
    const onScreen = playing && !document.hidden && (observedRatio ?? 1) >= minRatio;
    const visible = onScreen ? measureVisibleShare(element, observedRatio) : 0;
    const now = clock.monotonic();
    if (visible < minRatio) visibleSinceMs = undefined;
    else if (visibleSinceMs === undefined || now - checkedAt > minSleepMs) visibleSinceMs = now;
    checkedAt = now;
    const ms = visibleSinceMs === undefined ? 0 : Math.round(now - visibleSinceMs);
    if (ms >= requiredMs) {
      destroy();
      onViewable({ ratio: visible, ms });
    } else if (onScreen) {
      cancel = clock.after(Math.min(checkIntervalMs, requiredMs - ms), check);
    }
  }

  document.addEventListener('visibilitychange', check);
  return {
    setPlaying(value) {
      playing = value;
      check();
    },
    destroy,
  };
}

/** Nine evenly spaced points, as fractions of the width and height. */
const grid = [1, 3, 5].flatMap((x) => [1, 3, 5].map((y) => [x / 6, y / 6] as const));

/**
 * Returns the share of an element that is on the screen and not covered. Tests individual points, because an
 * intersection observer does not detect other elements on top of it. Until the observer has a result, points outside
 * the window count as invisible.
 */
function measureVisibleShare(element: Element, observedRatio: number | undefined): number {
  const { height, left, top, width } = element.getBoundingClientRect();
  const root = element.getRootNode() as Document | ShadowRoot;
  const hits = grid
    .map(([x, y]) => root.elementFromPoint(left + x * width, top + y * height))
    .filter((hit) => hit !== null);
  const uncovered = hits.filter((hit) => hit.contains(element) || element.contains(hit));
  if (observedRatio === undefined) return uncovered.length / grid.length;
  return (observedRatio * uncovered.length) / (hits.length || 1);
}
