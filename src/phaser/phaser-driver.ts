import type * as Phaser from 'phaser';
import { type EngineDriver, rememberFocus } from '../engine/engine-driver.ts';

/**
 * The engine driver for Phaser 3.60 to 4.x. `TruewardPlugin` creates it; it is exported for games that call
 * `createAds()` themselves.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: phaserDriver(game) });
 */
export function phaserDriver(game: Phaser.Game): EngineDriver {
  return {
    hold: () => hold(game),
    // `step` is emitted before the scenes update and before rendering (`Game.step`), so the game sees a reward in the
    // same frame. The listener is attached only while callbacks are queued, so an idle frame costs nothing.
    onFrame(callback) {
      game.events.on('step', callback);
      return () => game.events.off('step', callback);
    },
    focusTarget: () => game.canvas,
  };
}

function hold(game: Phaser.Game): () => void {
  let resumeAfterwards = !game.isPaused;
  const held = new AbortController();
  const restoreFocus = rememberFocus(() => game.canvas);
  const releaseSound = holdSound(game, held.signal);
  game.pause();

  const { pause } = game;
  // Pausing a paused game emits no event, so this records that the game has to stay paused after the ad.
  game.pause = () => {
    resumeAfterwards = false;
  };
  const stayPaused = () => {
    if (game.isPaused) return;
    // Showing the tab again emits `resume` too, but leaves the game paused. So this `resume` came from the game.
    resumeAfterwards = true;
    pause.call(game);
  };
  const onDestroy = () => held.abort();
  game.events.on('resume', stayPaused);
  game.events.once('destroy', onDestroy);

  return () => {
    if (held.signal.aborted) return;
    held.abort();
    game.events.off('resume', stayPaused);
    game.events.off('destroy', onDestroy);
    game.pause = pause;
    returnFocus(game, restoreFocus);
    if (resumeAfterwards) game.resume();
    releaseSound();
  };
}

/**
 * Pauses the game's sounds. On release, sounds that were playing resume, and sounds that the game started during the
 * ad begin to play. Volume and mute stay as they are.
 */
function holdSound({ sound }: Phaser.Game, signal: AbortSignal): () => void {
  // Doesn't use `pauseAll()`, because `resumeAll()` would also start sounds that the game itself had paused. In a game
  // without audio, the sound manager has no `getAllPlaying()`, although its type says so.
  const playingSounds = (sound?.getAllPlaying?.() ?? []).filter((playingSound) =>
    playingSound.pause(),
  );
  const context = sound && 'context' in sound ? sound.context : undefined;
  let suspended = false;
  const suspend = () => {
    if (context?.state !== 'running') return;
    suspended = true;
    void context.suspend();
  };
  suspend();
  // Phaser resumes the context when the window is focused, and unlocks it on a touch.
  context?.addEventListener('statechange', suspend, { signal });

  return () => {
    for (const playingSound of playingSounds)
      if (!playingSound.pendingRemove) playingSound.resume();
    // If the game has lost focus, it stays silent until Phaser resumes its sound on focus.
    if (suspended && !(sound.pauseOnBlur && sound.gameLostFocus)) context?.resume().catch(() => {});
  };
}

function returnFocus(game: Phaser.Game, restore: () => void): void {
  const focused = document.activeElement;
  // After a click inside an ad's iframe, the window fires no focus event. Only focusing the canvas itself then resumes
  // the game in Chromium, Firefox and WebKit. WebKit also does not restore focus to a button in a canvas.
  if (focused === null || focused === document.body) restore();
  if (!game.hasFocus && document.hasFocus()) game.events.emit('focus');
}
