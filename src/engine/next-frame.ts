import { callGuarded } from '../platform/guard.ts';
import type { EngineDriver } from './engine-driver.ts';

/** Calls `callback` in the game's next frame. Returns a function that cancels the call. */
export function callInNextFrame(driver: EngineDriver, callback: () => void): () => void {
  let detach = (): void => {};
  let ended = false;
  const stop = (): void => {
    ended = true;
    detach();
  };
  detach = driver.onFrame(() => {
    if (ended) return;
    stop();
    callGuarded(callback);
  });
  return stop;
}
