import { attempt } from '../platform/guard.ts';
import { type EngineDriver, rememberFocus } from './engine-driver.ts';

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
