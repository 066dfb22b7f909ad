import type * as Phaser from 'phaser';
import type { EngineDriver } from '../engine/engine-driver.ts';
import { rememberFocus } from '../engine/restore-focus.ts';

/**
 * The engine driver for a Phaser game, 3.60 to 4.x. `TruewardPlugin` makes it by itself; it is
 * exported for a game that calls `createAds()` on its own.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: phaserDriver(game) });
 */
export function phaserDriver(game: Phaser.Game): EngineDriver {
  return {
    hold: () => hold(game),
    // `step` comes before the scenes' own update, so the game sees a reward in the same frame.
    // Attached only while asked for: an idle frame calls nothing of ours.
    onFrame(callback) {
      game.events.on('step', callback);
      return () => game.events.off('step', callback);
    },
    focusTarget: () => game.canvas,
    // Nothing of ours runs in a frame but on `step`, and there nothing is being drawn: Phaser renders
    // after all steps (`Game.step`), and a paused game neither steps nor renders.
    isRendering: () => false,
  };
}

function hold(game: Phaser.Game): () => void {
  let resumeAfterwards = !game.isPaused;
  let released = false;
  const restoreFocus = rememberFocus(() => game.canvas);
  const sounds = pausePlayingSounds(game);
  game.pause();

  const stayPaused = () => {
    if (game.isPaused) return;
    // Showing the tab again emits `resume` too, with the game still paused; this was the game's wish.
    resumeAfterwards = true;
    game.pause();
  };
  const forget = () => {
    released = true;
  };
  game.events.on('resume', stayPaused);
  game.events.once('destroy', forget);

  return () => {
    if (released) return;
    released = true;
    game.events.off('resume', stayPaused);
    game.events.off('destroy', forget);
    giveFocusBack(game, restoreFocus);
    if (resumeAfterwards) game.resume();
    for (const sound of sounds) sound.resume();
  };
}

/** Not `pauseAll()`: its counterpart would also start what the game itself had paused. */
function pausePlayingSounds(game: Phaser.Game): Phaser.Sound.BaseSound[] {
  // The sound manager of a game without audio lacks the call, against its type.
  const playing = game.sound?.getAllPlaying?.() ?? [];
  return playing.filter((sound) => sound.pause());
}

function giveFocusBack(game: Phaser.Game, restore: () => void): void {
  const focused = document.activeElement;
  // After a click inside an ad's iframe no focus event comes any more: only focusing the canvas itself
  // wakes the game in Chromium, Firefox and WebKit. And WebKit gives nothing back to a button in a canvas.
  if (focused === null || focused === document.body) restore();
  if (!game.hasFocus && document.hasFocus()) game.events.emit('focus');
}
