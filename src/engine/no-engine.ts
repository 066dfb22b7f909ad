import { attempt } from '../platform/guard.ts';
import { native } from '../platform/native.ts';
import { countHolds } from '../platform/count-holds.ts';
import { type EngineDriver, rememberFocus } from './engine-driver.ts';
import { holdMedia } from './held-media.ts';

/**
 * How often to check for missing frames, in milliseconds. After two checks without a frame, the checks themselves call
 * `callback`.
 */
const frameCheckMs = 1_000;

/**
 * Creates the driver for pages without a supported engine. It doesn't pause the game: the game pauses in `onOpen` and
 * resumes in `onClose`. It pauses the page's `audio` and `video` elements, delivers rewards in animation frames, and
 * returns the focus.
 *
 * @param canvas - Receives focus after an ad if nothing had focus before.
 */
export function noEngine(canvas: HTMLElement | null = null): EngineDriver {
  const holds = countHolds(() => {
    const restoreFocus = rememberFocus(() => canvas);
    const releaseMedia = holdMedia();
    return () => {
      restoreFocus();
      releaseMedia();
    };
  });
  return {
    hold: () => holds.hold(),
    onFrame: (callback) =>
      callEachFrame(() => {
        if (!holds.isHeld) callback();
      }),
    focusTarget: () => canvas,
  };
}

/** Calls `callback` in animation frames, or by a timer if the page renders none. */
export function callEachFrame(callback: () => void): () => void {
  let frame = 0;
  let missedChecks = 0;
  const request = (): void => {
    frame = attempt(() => native.requestAnimationFrame(next)) ?? 0;
  };
  function next(): void {
    missedChecks = 0;
    request();
    callback();
  }
  request();
  // A hidden page gets no animation frames either, but its game is paused anyway.
  const timer = native.setInterval(() => {
    missedChecks = native.isHidden() ? 0 : missedChecks + 1;
    if (missedChecks > 1) callback();
  }, frameCheckMs);
  return () => {
    attempt(() => native.cancelAnimationFrame(frame));
    native.clearInterval(timer);
  };
}
