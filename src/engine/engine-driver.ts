import { attempt } from '../platform/guard.ts';

/**
 * What the SDK needs of a game engine. A driver for another engine is three small functions:
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
   * Pauses the time and sound of the game; the SDK handles input. Returns a function that restores the previous
   * state; it may be called more than once.
   */
  hold(): () => void;
  /**
   * Calls back once a frame, in the part of the frame in which game code runs and nothing is being drawn, and not
   * while the game is held. Returns a function that stops this.
   */
  onFrame(callback: () => void): () => void;
  /**
   * The element to focus after an ad if nothing had the focus before. It also receives the release events of keys
   * and pointers that were released during the ad.
   */
  focusTarget(): HTMLElement | null;
}

/**
 * Remembers what has the keyboard. The function that it returns gives it back, or to `fallback` where
 * nothing had it: a browser sends no focus event when a focused iframe is removed, so a game would
 * stay deaf and, in Phaser, mute until the next click.
 */
export function rememberFocus(fallback: () => HTMLElement | null): () => void {
  const before = document.activeElement;
  return () => {
    const had = before instanceof HTMLElement && before !== document.body && before.isConnected;
    const target = had ? before : fallback();
    if (target === null) return;
    if (!had && !target.hasAttribute('tabindex')) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };
}

/** A visible page without a frame for twice this has lost its `requestAnimationFrame`; in milliseconds. */
const lateMs = 1_000;

/**
 * The driver for a page without a supported engine. It counts frames with `requestAnimationFrame`;
 * stopping the game during an ad is left to the `onOpen` and `onClose` of the call.
 *
 * @param canvas - Gets the keyboard after an ad where nothing had it before.
 */
export function noEngine(canvas: HTMLElement | null = null): EngineDriver {
  let holds = 0;
  return {
    hold() {
      const giveFocusBack = rememberFocus(() => canvas);
      let held = true;
      holds += 1;
      return () => {
        if (!held) return;
        held = false;
        holds -= 1;
        giveFocusBack();
      };
    },
    onFrame(callback) {
      let frame = 0;
      let late = 0;
      const request = (): void => {
        frame = attempt(() => requestAnimationFrame(next)) ?? 0;
      };
      function call(): void {
        if (holds === 0) callback();
      }
      function next(): void {
        late = 0;
        request();
        call();
      }
      request();
      // A hidden page has no frames either, but there the game stands still as well.
      const timer = setInterval(() => {
        late = document.hidden ? 0 : late + 1;
        if (late > 1) call();
      }, lateMs);
      return () => {
        attempt(() => cancelAnimationFrame(frame));
        clearInterval(timer);
      };
    },
    focusTarget: () => canvas,
  };
}
