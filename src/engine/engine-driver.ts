import { postponeCalls } from './postponed-calls.ts';

/**
 * The SDK's interface to a game engine. {@link createEngineDriver} makes one from the few things that differ between
 * engines.
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
 * Saves the focused element. The returned function restores focus, or focuses `fallback` if nothing had focus, and then
 * focuses what the game has asked for in the meantime: behind an ad, nothing takes the focus. Browsers don't fire a focus
 * event when a focused iframe is removed, so the game would otherwise ignore keys until the next click. In Phaser, it
 * would also stay muted.
 *
 * @param fallback - Returns the element to focus instead, such as the game's canvas. It is made focusable if it isn't, without a
 *   ring.
 * @param isLost - Whether the focus must be restored. Default: always.
 */
export function rememberFocus(
  fallback: () => HTMLElement | null,
  isLost: () => boolean = () => true,
): () => void {
  const focusedElement = document.activeElement;
  const calls = postponeCalls();
  // The ad itself, and something else on top, such as a privacy dialog, take the focus at once.
  calls.postpone(HTMLElement.prototype, ['focus', 'blur'], {
    atOnce: ['focus', 'blur'],
    isDone: (element) => element.matches(':focus'),
  });
  const restore = (): void => {
    const canRestore =
      focusedElement instanceof HTMLElement &&
      focusedElement !== document.body &&
      focusedElement.isConnected;
    // An element that the game has hidden, disabled or made inert in the meantime doesn't take the focus.
    if (canRestore && takesFocus(focusedElement)) return;
    const target = fallback();
    if (target === null) return;
    if (!target.hasAttribute('tabindex')) {
      target.tabIndex = -1;
      // Tab doesn't lead here, so a ring around the game would tell the player nothing.
      target.style.outline = 'none';
    }
    // The player hasn't moved the focus there either.
    takesFocus(target, { focusVisible: false });
  };
  return () => {
    calls.release();
    if (isLost()) restore();
    calls.replay();
  };
}

/** Focuses an element, and returns whether it has the focus now. */
function takesFocus(element: HTMLElement, options?: FocusOptions): boolean {
  element.focus({ preventScroll: true, ...options });
  return element.matches(':focus, :focus-within');
}

/** Wraps a driver so that the game keeps running behind its ads. */
export const keepRunning = (engine: EngineDriver): EngineDriver => ({
  hold: () => rememberFocus(() => engine.focusTarget()),
  onFrame: (callback) => engine.onFrame(callback),
  focusTarget: () => engine.focusTarget(),
});
