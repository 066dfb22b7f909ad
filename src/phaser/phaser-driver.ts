import type * as Phaser from 'phaser';
import { type EngineDriver, rememberFocus } from '../engine/engine-driver.ts';

/**
 * Creates the engine driver for Phaser 3.60 to 4.x. You only need it if you call `createAds()` instead of using
 * `TruewardPlugin`.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: phaserDriver(game) });
 */
export function phaserDriver(game: Phaser.Game): EngineDriver {
  return {
    hold: () => hold(game),
    // `Game.step` emits `step` before scenes update and render, so the game sees a reward in the same frame. The
    // listener exists only while callbacks are queued, so idle frames cost nothing.
    onFrame(callback) {
      game.events.on('step', callback);
      return () => game.events.off('step', callback);
    },
    focusTarget: () => game.canvas,
  };
}

function hold(game: Phaser.Game): () => void {
  let shouldResume = !game.isPaused;
  const holdController = new AbortController();
  const restoreFocus = rememberFocus(() => game.canvas);
  const releaseSound = holdSound(game, holdController.signal);
  game.pause();

  const { pause } = game;
  // If the game calls `pause()` during the ad, it stays paused after the ad. Phaser emits no event for a game that is
  // already paused, so this patches the method.
  game.pause = () => {
    shouldResume = false;
  };
  const stayPaused = () => {
    if (game.isPaused) return;
    // This `resume` event came from the game. Phaser also emits `resume` when the tab is shown, but leaves the game
    // paused.
    shouldResume = true;
    pause.call(game);
  };
  const onDestroy = () => holdController.abort();
  game.events.on('resume', stayPaused);
  game.events.once('destroy', onDestroy);

  return () => {
    if (holdController.signal.aborted) return;
    holdController.abort();
    game.events.off('resume', stayPaused);
    game.events.off('destroy', onDestroy);
    game.pause = pause;
    returnFocus(game, restoreFocus);
    skipTweenTime(game);
    if (shouldResume) game.resume();
    releaseSound();
  };
}

/**
 * Excludes the ad's duration from the tweens. They follow the wall clock, and Phaser corrects only gaps that its lag
 * smoothing counts as lag, to which a game may have set another limit (`setLagSmooth`).
 */
function skipTweenTime(game: Phaser.Game): void {
  for (const { sys } of game.scene.getScenes(false)) {
    // A scene can be configured without tweens, or under another name.
    const { tweens } = sys as { tweens?: Phaser.Tweens.TweenManager };
    if (!tweens) continue;
    const { lagSkip, maxLag } = tweens;
    // Everything since the last step counts as lag, none of it is made up for.
    tweens.setLagSmooth(0, 0).tick();
    tweens.setLagSmooth(maxLag, lagSkip);
  }
}

/**
 * Pauses the game's sounds. The returned function resumes them and starts the sounds that the game tried to play during
 * the ad. Volume and mute settings are left unchanged.
 */
function holdSound({ sound }: Phaser.Game, signal: AbortSignal): () => void {
  // `pauseAll()` is not an option, because `resumeAll()` would also resume sounds that the game itself has paused.
  // Without audio, the sound manager has no `getAllPlaying()`, contrary to its type.
  const playingSounds = (sound?.getAllPlaying?.() ?? []).filter((playingSound) =>
    playingSound.pause(),
  );
  const { context } = (sound ?? {}) as { context?: AudioContext };
  let didSuspend = false;
  const suspend = () => {
    if (context?.state !== 'running') return;
    didSuspend = true;
    void context.suspend();
  };
  suspend();
  // Suspend the audio context again whenever Phaser resumes it: when the window gains focus, or on touch to unlock it.
  context?.addEventListener('statechange', suspend, { signal });

  return () => {
    for (const playingSound of playingSounds)
      if (!playingSound.pendingRemove) playingSound.resume();
    // If the game has lost focus, Phaser resumes the sound when the game regains focus.
    if (didSuspend && !(sound.pauseOnBlur && sound.gameLostFocus))
      context?.resume().catch(() => {});
  };
}

function returnFocus(game: Phaser.Game, restore: () => void): void {
  const focused = document.activeElement;
  // After a click inside an ad's iframe, the window receives no `focus` event, so focus the canvas to resume the game.
  // WebKit also doesn't restore focus to a button in a canvas.
  if (focused === null || focused === document.body) restore();
  if (!game.hasFocus && document.hasFocus()) game.events.emit('focus');
}
