import type { Media } from '@trueward/protocol/wire';

/** The metadata that the service read from an uploaded file. */
export interface UploadedMedia {
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

/** For HTML without intrinsic dimensions. */
const defaultSize = { width: 640, height: 360 };

/** Adds an uploaded file to the media of a creative; a second encoding of a video is added to the first. */
export function toMedia(found: UploadedMedia, before: Media | undefined): Media {
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
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
