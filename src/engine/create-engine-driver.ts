import { callGuarded } from '../platform/guard.ts';
import { native } from '../platform/native.ts';
import { countHolds } from '../platform/count-holds.ts';
import { type EngineDriver, rememberFocus } from './engine-driver.ts';
import { suspendAudio } from './held-audio.ts';
import { holdMedia } from './held-media.ts';
import { postponeCalls } from './postponed-calls.ts';

/** What differs between engines. Everything else about an {@link EngineDriver} is the same for all of them. */
export interface EngineParts {
  /** The element with the game. It receives the focus after an ad if nothing had focus before. */
  canvas(): HTMLElement | null;
  /**
   * Calls `callback` once per frame, before drawing. Returns a function that stops the calls. Calls during an ad have no
   * effect.
   */
  onFrame(callback: () => void): () => void;
  /**
   * Stops the game's frames and clocks. Returns a function that starts them again, without the time in between. Ads that
   * overlap pause the game once. If the game had paused itself, both functions should do nothing. Without this function,
   * the game checks {@link GameDriver.isHeld} in its own loop. A list pauses several things.
   */
  pause?: PauseFunction | readonly PauseFunction[];
  /**
   * What plays the game's sounds: audio contexts, and elements that aren't part of the page. Called when an ad opens. What
   * doesn't exist yet is skipped.
   */
  audio?(): GameSound | readonly GameSound[];
}

/**
 * Pauses something. Returns a function that lets it go on.
 *
 * @param postpone - Postpones the calls of these methods of an object until the ad has ended. Postpone the methods with
 *   which the game or its engine starts and stops itself, so that neither runs behind the ad.
 */
export type PauseFunction = (
  postpone: <Target extends object>(
    target: Target,
    methods: readonly (keyof Target & string)[],
  ) => void,
) => () => void;

/** Something that plays sounds, if it exists. */
export type GameSound = AudioContext | HTMLMediaElement | null | undefined;

/** An engine driver for a game that has a loop of its own. */
export interface GameDriver extends EngineDriver {
  /** Whether an ad holds the game. A loop that the driver can't stop skips its frames while this is true. */
  readonly isHeld: boolean;
  /**
   * The game's time in milliseconds. It stands still during ads and never goes back. The difference between two frames is
   * a delta that excludes ads.
   */
  now(): number;
}

/**
 * Creates an engine driver. It counts how many ads hold the game, silences audio contexts and the page's media, restores
 * the focus, and postpones what the game and its engine do about their pauses until the ad has ended.
 *
 * @example
 * const engine = createEngineDriver({
 *   canvas: () => canvas,
 *   audio: () => Howler.ctx,
 *   onFrame(callback) {
 *     updates.add(callback);
 *     return () => updates.delete(callback);
 *   },
 * });
 * const ads = createAds({ publishableKey, serviceUrl, engine });
 */
export function createEngineDriver(parts: EngineParts): GameDriver {
  let heldAtMs = 0;
  let droppedMs = 0;
  const holds = countHolds(() => {
    heldAtMs = native.monotonic();
    const resume = pause(parts);
    return () => {
      droppedMs += native.monotonic() - heldAtMs;
      resume();
    };
  });
  return {
    get isHeld() {
      return holds.isHeld;
    },
    now: () => (holds.isHeld ? heldAtMs : native.monotonic()) - droppedMs,
    hold: () => holds.hold(),
    onFrame: (callback) =>
      parts.onFrame(() => {
        if (!holds.isHeld) callback();
      }),
    focusTarget: () => parts.canvas(),
  };
}

/** Pauses the game. If the engine fails to, as it may after the game has been destroyed, everything else is still done. */
function pause(parts: EngineParts): () => void {
  const restoreFocus = rememberFocus(() => parts.canvas());
  const calls = postponeCalls();
  const controller = new native.AbortController();
  const resumes: (() => void)[] = [];
  for (const pausePart of [parts.pause ?? []].flat())
    callGuarded(() => {
      resumes.unshift(pausePart.call(parts, (target, methods) => calls.postpone(target, methods)));
    });
  const resumeAudio: (() => void)[] = [];
  const elements: HTMLMediaElement[] = [];
  callGuarded(() => {
    for (const sound of [parts.audio?.()].flat()) {
      if (!sound) continue;
      if (sound instanceof HTMLMediaElement) elements.push(sound);
      else resumeAudio.push(suspendAudio(sound, calls, controller.signal));
    }
  });
  const releaseMedia = holdMedia(elements);
  return () => {
    callGuarded(restoreFocus);
    controller.abort();
    calls.release();
    releaseMedia();
    resumes.forEach(callGuarded);
    for (const resume of resumeAudio) callGuarded(resume);
    calls.replay();
  };
}
