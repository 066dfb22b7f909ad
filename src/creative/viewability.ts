import { attempt } from '../platform/guard.ts';
import type { Clock } from '../platform/clock.ts';
import { onVisibilityChange } from '../platform/front-door.ts';
import { native } from '../platform/native.ts';
import { measureUnveiledShare, measureVisibleShare, type VisibleShare } from './visible-share.ts';

/** How much of an ad was visible, and for how long without interruption. */
export interface Visibility {
  /** Share of the ad's pixels that were on the screen, from 0 to 1. */
  ratio: number;
  ms: number;
}

export interface ViewabilityWatch {
  /** Sets whether the ad is playing. According to the MRC's definition, a paused or stalled video is not viewable. */
  setPlaying(playing: boolean): void;
  /** Returns why the ad has not been visible at any time so far, or `undefined` if it has. */
  unseenCause(): string | undefined;
  destroy(): void;
}

const minRatio = 0.5;
/** How often to check whether something covers the element, in milliseconds. */
const checkIntervalMs = 200;
/** If more than this many milliseconds pass between two checks, the device slept or the page was suspended. */
const minSleepMs = 10_000;
/** How long to wait before measuring again what is on top of the element, in milliseconds. */
const veilCheckMs = 1_000;
/** How long a playing ad may be invisible before it is reported, in milliseconds. */
const maxUnseenMs = 4_000;

/** Version 2 of intersection observers. Such observers must be delayed. */
const visibilityOptions: IntersectionObserverInit & { trackVisibility: true; delay: number } = {
  trackVisibility: true,
  delay: 100,
};

/**
 * Reports once when at least half of the element's pixels have been continuously visible for 1 s or, for a video,
 * for 2 s of playback ({@link https://www.mediaratingcouncil.org | MRC viewable impression}).
 *
 * `onUnseen` is called once, with the cause, if the ad plays for four seconds without having been visible.
 */
export function watchViewability(
  element: Element,
  options: {
    clock: Clock;
    isVideo: boolean;
    onViewable: (visibility: Visibility) => void;
    onUnseen: (cause: string) => void;
  },
): ViewabilityWatch {
  const { clock, onUnseen, onViewable } = options;
  const requiredMs = options.isVideo ? 2_000 : 1_000;
  let observedRatio: number | undefined;
  /** Whether the browser has ruled out that anything covers the ad or makes it transparent. */
  let isConfirmed = false;
  let isSeen = false;
  let isReported = false;
  let unseenSinceMs: number | undefined;
  /** What {@link measureUnveiledShare} found, and how long a bad result holds. */
  let veil: VisibleShare = { ratio: 1 };
  let veiledUntilMs = 0;
  let playing = true;
  let isDone = false;
  let visibleSinceMs: number | undefined;
  let checkedAt = -Infinity;
  let cancel: (() => void) | undefined;
  const observers = [
    observe({ threshold: [0, minRatio, 1] }, ({ intersectionRatio }) => {
      observedRatio = intersectionRatio;
      check();
    }),
    // Only confirms that the ad is visible, so it needs no check of its own.
    observe(visibilityOptions, ({ isVisible }) => {
      isConfirmed = isVisible === true;
    }),
  ];

  function observe(
    init: IntersectionObserverInit,
    onEntry: (entry: IntersectionObserverEntry & { isVisible?: boolean }) => void,
  ): IntersectionObserver | undefined {
    return attempt(() => {
      const observer = new IntersectionObserver((entries) => {
        const entry = entries.at(-1);
        if (entry) onEntry(entry);
      }, init);
      observer.observe(element);
      return observer;
    });
  }

  function destroy(): void {
    isDone = true;
    for (const observer of observers) observer?.disconnect();
    stopListening();
    cancel?.();
  }

  function check(): void {
    cancel?.();
    if (isDone) return;
    const isShown = playing && !native.isHidden();
    const now = clock.monotonic();
    let { cause, ratio } = isShown
      ? measureVisibleShare(element, observedRatio)
      : { ratio: 0, cause: 'the page is hidden' };
    if (ratio < minRatio) visibleSinceMs = undefined;
    else if (visibleSinceMs === undefined || now - checkedAt > minSleepMs) visibleSinceMs = now;
    let ms = visibleSinceMs === undefined ? 0 : Math.round(now - visibleSinceMs);
    const isDue = ms >= requiredMs || (!isSeen && ms > 0);
    if (ratio >= minRatio && !isConfirmed) {
      if (isDue && now >= veiledUntilMs) {
        veil = measureUnveiledShare(element);
        veiledUntilMs = veil.ratio < minRatio ? now + veilCheckMs : 0;
      }
      if (isDue || now < veiledUntilMs) {
        ratio *= veil.ratio;
        cause = veil.cause;
      }
      if (ratio < minRatio) {
        visibleSinceMs = undefined;
        ms = 0;
      }
    }
    checkedAt = now;
    isSeen ||= ratio >= minRatio && ms > 0;
    noteUnseen(isShown, ratio < minRatio ? cause : undefined);
    if (ms >= requiredMs) {
      destroy();
      onViewable({ ratio, ms });
    } else if (isShown && !isDone && (!isReported || (observedRatio ?? 1) >= minRatio)) {
      cancel = clock.after(Math.min(checkIntervalMs, requiredMs - ms), check);
    }
  }

  /** Reports a playing ad that has not been visible for too long. */
  function noteUnseen(isShown: boolean, cause: string | undefined): void {
    if (isSeen || !isShown) unseenSinceMs = undefined;
    if (isSeen || !isShown || cause === undefined) return;
    unseenSinceMs ??= clock.monotonic();
    if (isReported || clock.monotonic() - unseenSinceMs < maxUnseenMs) return;
    isReported = true;
    onUnseen(cause);
  }

  const stopListening = onVisibilityChange(check);
  return {
    setPlaying(value) {
      playing = value;
      check();
    },
    unseenCause() {
      if (isSeen) return undefined;
      const { cause, ratio } = measureVisibleShare(element, observedRatio);
      return ratio < minRatio ? (cause ?? 'it is covered') : undefined;
    },
    destroy,
  };
}
