import type * as Phaser from 'phaser';

/**
 * Calls `end` once, when this run of the scene is over: at its shutdown, or when it is destroyed
 * without one, as `game.destroy()` does. The function that it returns calls `end` at once.
 *
 * Asked for by each thing that has to end, not in the plugin's `boot`: that comes once for a scene,
 * but a scene that is restarted shuts down many times.
 */
export function untilSceneEnds({ sys }: Phaser.Scene, end: () => void): () => void {
  // Kept, because a destroyed scene has no emitter any more.
  const { events } = sys;
  let ended = false;
  function over(): void {
    events.off('shutdown', over);
    events.off('destroy', over);
    if (ended) return;
    ended = true;
    end();
  }
  events.once('shutdown', over);
  events.once('destroy', over);
  return over;
}
