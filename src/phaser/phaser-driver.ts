import type * as Phaser from 'phaser';
import { type EngineDriver, rememberFocus } from '../engine/engine-driver.ts';
import { suspendAudio } from '../engine/held-audio.ts';
import { holdMedia } from '../engine/held-media.ts';
import { type PostponedCalls, postponeCalls } from '../engine/postponed-calls.ts';
import { callGuarded } from '../platform/guard.ts';
import { native } from '../platform/native.ts';

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
  const wasRunning = !game.isPaused;
  const holdController = new native.AbortController();
  const { signal } = holdController;
  // WebKit doesn't restore the focus to a button in a canvas.
  const restoreFocus = rememberFocus(() => game.canvas, hasNoFocus);
  const calls = postponeCalls();
  // The game may listen to its engine's events, and throw.
  callGuarded(() => game.pause());
  const releaseSound = holdSound(game, calls, signal);
  const releaseMedia = holdMedia();
  calls.postpone(game, ['pause', 'resume']);
  const end = () => {
    holdController.abort();
    calls.release();
    releaseMedia();
  };
  game.events.once('destroy', end);

  return () => {
    if (signal.aborted) return;
    game.events.off('destroy', end);
    // Phaser suspends and resumes its sound with the focus. These calls too count as what the game wants.
    restoreFocus();
    // After a click inside an ad's iframe, the window receives no `focus` event.
    if (!game.hasFocus && document.hasFocus()) callGuarded(() => game.events.emit('focus'));
    end();
    skipTweenTime(game);
    if (wasRunning) callGuarded(() => game.resume());
    releaseSound();
    calls.replay();
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
 * Silences the game's sounds. The returned function lets them go on. Volume and mute settings are left unchanged.
 *
 * With Web Audio, only the context is suspended, so that the game's calls find each sound as it left it. HTML5 sounds are
 * paused one by one.
 */
function holdSound({ sound }: Phaser.Game, calls: PostponedCalls, signal: AbortSignal): () => void {
  const { context } = (sound ?? {}) as { context?: AudioContext };
  if (context) return suspendAudio(context, calls, signal);
  // `pauseAll()` is not an option, because `resumeAll()` would also resume sounds that the game itself has paused.
  // Without audio, the sound manager has no `getAllPlaying()`, contrary to its type.
  const playingSounds = (sound?.getAllPlaying?.() ?? []).filter((playing) => playing.pause());
  for (const playing of playingSounds)
    calls.postpone(playing, ['play', 'pause', 'resume', 'stop'], {
      result: () => true,
      applies: () => !playing.pendingRemove,
    });
  return () => {
    for (const playing of playingSounds) if (!playing.pendingRemove) playing.resume();
  };
}

const hasNoFocus = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;
