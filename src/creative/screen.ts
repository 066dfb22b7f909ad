import type { MediaFile } from '../../protocol/wire.ts';
import { attempt } from '../platform/guard.ts';
import { native } from '../platform/native.ts';

/**
 * Returns the smallest playable file that fills the screen without being scaled up. If every file is too small, returns
 * the largest one. Returns `undefined` if no file can be played.
 */
export function chooseFile(
  files: readonly MediaFile[],
  screenWidth: number,
  canPlay: (mime: string) => boolean,
): MediaFile | undefined {
  const playable = files
    .filter((file) => canPlay(file.mime))
    .sort((a, b) => a.width - b.width || (a.bitrate ?? 0) - (b.bitrate ?? 0));
  return playable.find((file) => file.width >= screenWidth) ?? playable.at(-1);
}

/** Returns the viewport width in device pixels. */
export const screenWidth = (): number => innerWidth * devicePixelRatio;

/**
 * Calls `callback` when the page's current content is on the screen. A frame counts as painted when the next frame
 * begins. Without animation frames, `callback` is never called, because there is no proof that the ad was visible.
 */
export function afterPaint(callback: () => void): () => void {
  let frame = 0;
  const request = (next: () => void): void => {
    frame = attempt(() => native.requestAnimationFrame(next)) ?? 0;
  };
  request(() => request(callback));
  return () => attempt(() => native.cancelAnimationFrame(frame));
}
