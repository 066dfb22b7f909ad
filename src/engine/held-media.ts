import { attempt, toList } from '../platform/guard.ts';
import { native } from '../platform/native.ts';
import { isOwnMedia } from '../platform/own-media.ts';
import { postponeCalls } from './postponed-calls.ts';

/**
 * Pauses the page's videos and sounds, and postpones the start of others until the ad has ended. Only elements in the
 * page can be found: a sound that isn't part of it goes on, unless the game starts it during the ad or it is one of
 * `others`.
 *
 * Called after the engine has paused its own sounds. The returned function is called before the engine resumes them: an
 * engine may use the same elements for other sounds.
 */
export function holdMedia(others: readonly HTMLMediaElement[] = []): () => void {
  const prototype = (globalThis as Partial<typeof globalThis>).HTMLMediaElement?.prototype;
  if (!prototype) return () => {};
  const { pause, play } = prototype;
  const calls = postponeCalls();
  const held = new Set<HTMLMediaElement>();
  const hold = (element: unknown): void => {
    if (!(element instanceof HTMLMediaElement) || isOwnMedia(element) || element.paused) return;
    held.add(element);
    Reflect.apply(pause, element, []);
  };
  document.querySelectorAll('audio, video').forEach(hold);
  others.forEach(hold);
  calls.postpone(prototype, ['play', 'pause'], {
    applies: (element) => !isOwnMedia(element),
    // The game may pause a sound that couldn't be found.
    atOnce: ['pause'],
    result: () => Promise.resolve(),
  });
  // An element that the game adds with `autoplay` starts without a call.
  const onPlay = ({ target }: Event): void => hold(target);
  Reflect.apply(native.addEventListener, document, ['play', onPlay, true]);
  return () => {
    Reflect.apply(native.removeEventListener, document, ['play', onPlay, true]);
    calls.release();
    // A browser may refuse to start one, and the game may have paused it.
    for (const element of toList(held))
      if (element.isConnected || others.includes(element))
        void attempt(() => Reflect.apply(play, element, []))?.catch(() => {});
    calls.replay();
  };
}
