import type * as Phaser from 'phaser';

/**
 * Calls `end` once, when this run of the scene is over: at its shutdown, or when it is destroyed
 * without one, as `game.destroy()` does. The function that it returns calls `end` at once.
 *
 * Asked for by each thing that has to end, not in the plugin's `boot`: that comes once for a scene,
 * but a scene that is restarted shuts down many times.
 */
export function untilSceneEnds({ sys }: Phaser.Scene, end: () => void): () => void {
  let ended = false;
  function over(): void {
    sys.events.off('shutdown', over);
    sys.events.off('destroy', over);
    if (ended) return;
    ended = true;
    end();
  }
  sys.events.once('shutdown', over);
  sys.events.once('destroy', over);
  return over;
}
