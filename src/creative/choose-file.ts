import type { MediaFile } from '../../protocol/wire.ts';

/**
 * The smallest file that fills the screen without being enlarged, or else the largest one; `undefined`
 * when none can be played.
 */
export function chooseFile(
  files: readonly MediaFile[],
  screenWidth: number,
  canPlay: (mime: string) => boolean,
): MediaFile | undefined {
  const playable = files
    .filter((file) => canPlay(file.mime))
    .sort((one, other) => one.width - other.width || (one.bitrate ?? 0) - (other.bitrate ?? 0));
  return playable.find((file) => file.width >= screenWidth) ?? playable.at(-1);
}

/** Device pixels that the screen is wide. */
export const screenWidth = (): number => innerWidth * devicePixelRatio;
