import { callGuarded, reportUncaught } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';
import { callEachFrame } from './no-engine.ts';

/**
 * Calls `callback` in the game's next frame, or in the page's if the driver fails. Returns a function that cancels the
 * call.
 */
export function callInNextFrame(driver: EngineDriver, callback: () => void): () => void {
  let detach: (() => void) | undefined;
  let ended = false;
  const stop = (): void => {
    ended = true;
    callGuarded(detach);
  };
  const next = (): void => {
    if (ended) return;
    stop();
    callGuarded(callback);
  };
  try {
    detach = driver.onFrame(next);
  } catch (error) {
    reportUncaught(error);
    detach = callEachFrame(next);
  }
  return stop;
}
