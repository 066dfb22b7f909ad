import { attempt } from '../platform/guard.ts';

/**
 * Calls back once what is in the page now is on the screen: a frame is when the one after it begins. Never calls
 * back where there are no frames, since nobody can tell there what was seen.
 */
export function afterPaint(callback: () => void): () => void {
  let frame = 0;
  const request = (next: () => void): void => {
    frame = attempt(() => requestAnimationFrame(next)) ?? 0;
  };
  request(() => request(callback));
  return () => attempt(() => cancelAnimationFrame(frame));
}
