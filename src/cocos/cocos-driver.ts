import { type EngineDriver, rememberFocus } from '../engine/engine-driver.ts';
import { holdMedia } from '../engine/held-media.ts';
import { type PostponedCalls, postponeCalls } from '../engine/postponed-calls.ts';
import { callGuarded } from '../platform/guard.ts';
import { checkEngine } from './check-engine.ts';
import type { CocosAudioSource, CocosModule } from './cocos-module.ts';

/**
 * Creates the engine driver for Cocos Creator 3.8 and 4. You only need it if you call `createAds()` instead of
 * `createCocosAds()`.
 *
 * @throws OptionError if the engine isn't a supported version.
 *
 * @example
 * import * as cc from 'cc';
 * const ads = createAds({ publishableKey, serviceUrl, engine: cocosDriver(cc) });
 */
export function cocosDriver(cc: CocosModule): EngineDriver {
  checkEngine(cc);
  let endLast = (): void => {};
  return {
    hold() {
      // The last ad may have ended on a hidden page, where its game waits.
      endLast();
      const { release, end } = hold(cc);
      endLast = end;
      return release;
    },
    onFrame: (callback) => listenForFrames(cc, callback),
    focusTarget: () => cc.game.canvas,
  };
}

/** Listens for frames. Called only while callbacks are waiting, so that idle frames cost nothing. */
function listenForFrames({ director, Director }: CocosModule, callback: () => void): () => void {
  const afterUpdate = () => callback();
  // A paused director emits no update events, but a game that paused it for an ad must still receive the ad's result.
  const callWhilePaused = () => {
    if (director.isPaused()) callback();
  };
  director.on(Director.EVENT_AFTER_UPDATE, afterUpdate);
  director.on(Director.EVENT_BEGIN_FRAME, callWhilePaused);
  return () => {
    director.off(Director.EVENT_AFTER_UPDATE, afterUpdate);
    director.off(Director.EVENT_BEGIN_FRAME, callWhilePaused);
  };
}

/** Holds the game. `release` waits until the page is shown; `end` doesn't wait. */
function hold(cc: CocosModule): { release(): void; end(): void } {
  const { game, Game } = cc;
  const wasRunning = !game.isPaused();
  const restoreFocus = rememberFocus(() => game.canvas);
  const calls = postponeCalls();
  // Stops frames and sounds. The engine’s audio players interrupt themselves on its pause event, to which the game may
  // listen too, and throw.
  callGuarded(() => game.pause());
  // It interrupts nothing if the game was paused already, as in a menu with music.
  const playing = wasRunning ? [] : pauseSounds(cc);
  const releaseMedia = holdMedia();
  // Includes the calls of the engine: a page that was hidden when the ad opened resumes the game when it is shown.
  calls.postpone(game, ['pause', 'resume']);
  holdSounds(cc, calls);
  let state: 'held' | 'waiting' | 'ended' = 'held';

  function end(): void {
    if (state === 'ended') return;
    state = 'ended';
    game.off(Game.EVENT_SHOW, end);
    calls.release();
    releaseMedia();
    for (const sound of playing) if (sound.isValid) sound.play();
    if (wasRunning) {
      skipPausedTime(cc);
      callGuarded(() => game.resume());
    }
    calls.replay();
  }
  function release(): void {
    if (state !== 'held') return;
    restoreFocus();
    // Music must not start on a hidden page. The engine would not pause again, because the page is already hidden.
    if (!document.hidden) return end();
    state = 'waiting';
    game.on(Game.EVENT_SHOW, end);
  }
  return { release, end };
}

/**
 * Excludes the ad’s duration from the next frame’s delta time. The engine discards only delta times above a threshold
 * (1 s by default), so the game would jump forward after a shorter ad.
 */
function skipPausedTime({ director, Director, Game }: CocosModule): void {
  const threshold = Game.DEBUG_DT_THRESHOLD;
  // Zero means that an earlier call is still waiting for the next frame.
  if (threshold === 0) return;
  Game.DEBUG_DT_THRESHOLD = 0;
  director.once(Director.EVENT_BEGIN_FRAME, () => {
    Game.DEBUG_DT_THRESHOLD = threshold;
  });
}

/** Pauses the sounds in the scene, and returns them. */
function pauseSounds({ AudioSource, director }: CocosModule): CocosAudioSource[] {
  const scene = AudioSource && director.getScene();
  const sounds = (scene?.getComponentsInChildren(AudioSource ?? {}) ?? []) as CocosAudioSource[];
  const playing = sounds.filter((sound) => sound.playing);
  for (const sound of playing) sound.pause();
  return playing;
}

/**
 * Postpones what the game wants of its sounds, also of those that it creates or loads during the ad. The engine’s pause
 * affects only sounds that are already playing.
 */
function holdSounds({ AudioSource }: CocosModule, calls: PostponedCalls): void {
  // A project's engine may be built without audio.
  if (!AudioSource) return;
  calls.postpone(AudioSource.prototype, ['play', 'pause', 'stop', 'playOneShot'], {
    applies: ({ isValid }) => isValid !== false,
  });
}
