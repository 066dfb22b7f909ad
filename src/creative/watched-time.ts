import type { Clock } from '../platform/clock.ts';

/** Counts how long media really played. */
export interface WatchedTime {
  readonly ms: number;
  /** The media stands at `mediaMs` now; `counts` says whether someone could see what led there. */
  moveTo(mediaMs: number, counts: boolean): void;
}

/**
 * Credits the lesser of media time and real time: a jump forward or a raised speed moves the media
 * without real time, a pause or a stall real time without the media.
 */
export function createWatchedTime(clock: Pick<Clock, 'monotonic'>): WatchedTime {
  let mediaSum = 0;
  let realSum = 0;
  let lastMedia = 0;
  let lastReal = clock.monotonic();
  return {
    get ms() {
      return Math.round(Math.min(mediaSum, realSum));
    },
    moveTo(mediaMs, counts) {
      const now = clock.monotonic();
      const moved = mediaMs - lastMedia;
      if (counts && moved > 0) {
        mediaSum += moved;
        // The least of both, per step too, so that time stood still can't pay for a later jump.
        realSum += Math.min(now - lastReal, moved + 50);
      }
      lastMedia = mediaMs;
      lastReal = now;
    },
  };
}
