import { attempt } from '../platform/guard.ts';
import { native } from '../platform/native.ts';
import { holdMedia } from './held-media.ts';

/**
 * The SDK's interface to a game engine. A driver for another engine needs only three small functions:
 *
 * @example
 * const driver: EngineDriver = {
 *   hold: () => (loop.stop(), () => loop.start()),
 *   onFrame: (callback) => (loop.add(callback), () => loop.remove(callback)),
 *   focusTarget: () => canvas,
 * };
 */
export interface EngineDriver {
  /**
   * Pauses game time and audio. The SDK itself blocks input. Returns a function that restores the previous state. That
   * function may be called more than once.
   */
  hold(): () => void;
  /**
   * Calls `callback` once per frame while `hold()` is not in effect, at a time when game code may run and nothing is
   * being drawn. Returns a function that stops the calls.
   */
  onFrame(callback: () => void): () => void;
  /**
   * The element to focus after an ad if nothing had focus before. It also receives release events for keys and pointers
   * that the player released during the ad.
   */
  focusTarget(): HTMLElement | null;
}

/**
 * Saves the focused element. The returned function restores focus, or focuses `fallback` if nothing had focus. Browsers
 * don't fire a focus event when a focused iframe is removed, so the game would otherwise ignore keys until the next
 * click. In Phaser, it would also stay muted.
 */
export function rememberFocus(fallback: () => HTMLElement | null): () => void {
  const focusedElement = document.activeElement;
  return () => {
    const canRestore =
      focusedElement instanceof HTMLElement &&
      focusedElement !== document.body &&
      focusedElement.isConnected;
    // An element that the game has hidden, disabled or made inert in the meantime doesn't take the focus.
    if (canRestore && takesFocus(focusedElement)) return;
    const target = fallback();
    if (target === null) return;
    if (!target.hasAttribute('tabindex')) target.tabIndex = -1;
    takesFocus(target);
  };
}

/** Focuses an element, and returns whether it has the focus now. */
function takesFocus(element: HTMLElement): boolean {
  element.focus({ preventScroll: true });
  return element.matches(':focus, :focus-within');
}

/** Wraps a driver so that the game keeps running behind its ads. */
export const keepRunning = (engine: EngineDriver): EngineDriver => ({
  hold: () => rememberFocus(() => engine.focusTarget()),
  onFrame: (callback) => engine.onFrame(callback),
  focusTarget: () => engine.focusTarget(),
});

/**
 * How often to check for missing frames, in milliseconds. After two checks without a frame, the checks themselves call
 * `callback`.
 */
const frameCheckMs = 1_000;

/**
 * Creates the driver for pages without a supported engine. Its frames come from `requestAnimationFrame`. The game
 * pauses in `onOpen` and resumes in `onClose`.
 *
 * @param canvas - Receives focus after an ad if nothing had focus before.
 */
export function noEngine(canvas: HTMLElement | null = null): EngineDriver {
  let holdCount = 0;
  return {
    hold() {
      const restoreFocus = rememberFocus(() => canvas);
      const releaseMedia = holdMedia();
      let held = true;
      holdCount += 1;
      return () => {
        if (!held) return;
        held = false;
        holdCount -= 1;
        restoreFocus();
        releaseMedia();
      };
    },
    onFrame(callback) {
      let frame = 0;
      let missedChecks = 0;
      const request = (): void => {
        frame = attempt(() => native.requestAnimationFrame(next)) ?? 0;
      };
      function callUnlessHeld(): void {
        if (holdCount === 0) callback();
      }
      function next(): void {
        missedChecks = 0;
        request();
        callUnlessHeld();
      }
      request();
      // A hidden page gets no animation frames either, but its game is paused anyway.
      const timer = native.setInterval(() => {
        missedChecks = document.hidden ? 0 : missedChecks + 1;
        if (missedChecks > 1) callUnlessHeld();
      }, frameCheckMs);
      return () => {
        attempt(() => native.cancelAnimationFrame(frame));
        native.clearInterval(timer);
      };
    },
    focusTarget: () => canvas,
  };
}
