import { listen } from '../platform/native.ts';

/** Mutes the page's videos and sounds, also those that start later. The returned function lets them sound again. */
export function mutePage(): () => void {
  const muted = new Set<HTMLMediaElement>();
  const mute = (element: unknown): void => {
    if (!(element instanceof HTMLMediaElement) || element.muted) return;
    muted.add(element);
    element.muted = true;
  };
  document.querySelectorAll('audio, video').forEach(mute);
  const stop = listen(document, 'play', ({ target }) => mute(target), { capture: true });
  return () => {
    stop();
    for (const element of muted) element.muted = false;
  };
}
