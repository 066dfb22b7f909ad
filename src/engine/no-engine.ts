import type { EngineDriver } from './engine-driver.ts';
import { rememberFocus } from './restore-focus.ts';

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
      let frame = requestAnimationFrame(function next() {
        frame = requestAnimationFrame(next);
        if (holds === 0) callback();
      });
      return () => cancelAnimationFrame(frame);
    },
    focusTarget: () => canvas,
    isRendering: () => false,
  };
}
