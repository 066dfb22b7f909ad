/**
 * What the SDK needs of a game engine. A driver for another engine is four small functions:
 *
 * @example
 * const driver: EngineDriver = {
 *   hold: () => (loop.stop(), () => loop.start()),
 *   onFrame: (callback) => (loop.add(callback), () => loop.remove(callback)),
 *   focusTarget: () => canvas,
 *   isRendering: () => loop.drawing,
 * };
 */
export interface EngineDriver {
  /**
   * Stops the game: time and sound; the SDK keeps the input. The function that it returns gives the
   * game back as it was, and may be called more than once.
   */
  hold(): () => void;
  /**
   * Calls back once a frame, in the part of the frame in which game code runs, and not while the
   * game is held. The function that it returns ends this.
   */
  onFrame(callback: () => void): () => void;
  /**
   * What gets the keyboard back after an ad, where nothing had it before. It also hears the end of
   * keys and pointers that were released during the ad.
   */
  focusTarget(): HTMLElement | null;
  /** Whether the engine is drawing at this moment; game code must not be called then. */
  isRendering(): boolean;
}
