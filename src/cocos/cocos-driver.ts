import { type EngineDriver, rememberFocus } from '../engine/engine-driver.ts';
import type { CocosAudioSource, CocosModule } from './cocos-module.ts';

/**
 * Creates the engine driver for Cocos Creator 3.8. You only need it if you call `createAds()` instead of
 * `createCocosAds()`.
 *
 * @example
 * import * as cc from 'cc';
 * const ads = createAds({ publishableKey, serviceUrl, engine: cocosDriver(cc) });
 */
export function cocosDriver(cc: CocosModule): EngineDriver {
  return {
    hold: () => hold(cc),
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

function hold(cc: CocosModule): () => void {
  const { game, Game } = cc;
  let shouldResume = !game.isPaused();
  let released = false;
  const restoreFocus = rememberFocus(() => game.canvas);
  // If the page was hidden when the ad opened, the engine resumes as soon as the page is shown. Pause it again.
  const stayPaused = () => {
    shouldResume = true;
    game.pause();
  };
  game.on(Game.EVENT_RESUME, stayPaused);
  // Stops frames and sounds. The engine’s audio players interrupt themselves on its pause event.
  game.pause();
  const restoreSound = holdSounds(cc);

  return () => {
    if (released) return;
    released = true;
    game.off(Game.EVENT_RESUME, stayPaused);
    restoreFocus();
    if (shouldResume) resume(cc, restoreSound);
    else restoreSound();
  };
}

function resume(cc: CocosModule, restoreSound: () => void): void {
  const { game, Game } = cc;
  if (document.hidden) {
    // Music must not start on a hidden page. The engine would not pause again, because the page is already hidden.
    game.once(Game.EVENT_SHOW, () => resume(cc, restoreSound));
    return;
  }
  skipPausedTime(cc);
  game.resume();
  restoreSound();
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

/**
 * Suppresses sounds that the game starts during an ad, for example from a timer. The engine’s pause affects only sounds
 * that are already playing. Returns a function that starts the suppressed sounds.
 */
export function holdSounds({ AudioSource, director }: CocosModule): () => void {
  // A project's engine may be built without audio.
  const scene = AudioSource && director.getScene();
  if (!scene) return () => {};
  const { AudioState, EventType } = AudioSource;
  const held = new Set<CocosAudioSource>();
  const silence = (source: CocosAudioSource): void => {
    held.add(source);
    source.pause();
  };
  const nodes = (scene.getComponentsInChildren(AudioSource) as CocosAudioSource[]).map(
    ({ node }) => node,
  );
  for (const node of nodes) node.on(EventType.STARTED, silence);
  return () => {
    for (const node of nodes) if (node.isValid) node.off(EventType.STARTED, silence);
    // Skips sounds that the game has stopped in the meantime.
    for (const source of held)
      if (source.isValid && source.state === AudioState.PAUSED) source.play();
  };
}
