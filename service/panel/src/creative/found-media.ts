import type { Media } from '@trueward/protocol/wire';

/** What the service found in a file, by its content. */
export interface FoundMedia {
  url: string;
  sha256: string;
  bytes: number;
  mime: string;
  width?: number;
  height?: number;
  duration_ms?: number;
  video_codec?: string;
  audio_codec?: string;
}

/** A frame without sizes of its own is drawn in this one. */
const defaultSize = { width: 640, height: 360 };

/** The media of a creative that shows this file; a second encoding of a video joins the first. */
export function toMedia(found: FoundMedia, before: Media | undefined): Media {
  const { url, mime, duration_ms: durationMs } = found;
  const size = {
    width: found.width ?? defaultSize.width,
    height: found.height ?? defaultSize.height,
  };
  if (mime.startsWith('text/html')) return { format: 'html', url, ...size };
  const file = { url, mime: mime.split(';')[0] ?? mime, ...size };
  const format = mime.startsWith('video/') ? 'video' : 'image';
  const others =
    before?.format === format ? before.files.filter((other) => other.mime !== file.mime) : [];
  if (format === 'image') return { format, files: [...others, file] };
  const known = before?.format === 'video' ? before : undefined;
  return {
    ...(known?.poster ? { poster: known.poster } : {}),
    ...(known?.captions ? { captions: known.captions } : {}),
    format,
    files: [...others, file],
    duration_ms: durationMs ?? known?.duration_ms ?? 15_000,
  };
}

/** `1.4 MB` */
export function inBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
