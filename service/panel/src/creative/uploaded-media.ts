import type { Media } from '@trueward/protocol/wire';

/** Metadata that the service has extracted from an uploaded file. */
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

/** The default size for files without intrinsic dimensions, such as HTML. */
const defaultSize = { width: 640, height: 360 };

/**
 * Adds an uploaded file to a creative's media. If the file has a different media format, the file replaces the existing
 * media.
 */
export function addUploadedFile(
  uploadedMedia: UploadedMedia,
  previousMedia: Media | undefined,
): Media {
  const { url, mime, duration_ms: durationMs } = uploadedMedia;
  const size = {
    width: uploadedMedia.width ?? defaultSize.width,
    height: uploadedMedia.height ?? defaultSize.height,
  };
  if (mime.startsWith('text/html')) return { format: 'html', url, ...size };
  const file = { url, mime: mime.split(';')[0] ?? mime, ...size };
  const format = mime.startsWith('video/') ? 'video' : 'image';
  const otherFiles =
    previousMedia?.format === format
      ? previousMedia.files.filter((other) => other.mime !== file.mime)
      : [];
  if (format === 'image') return { format, files: [...otherFiles, file] };
  const video = previousMedia?.format === 'video' ? previousMedia : undefined;
  return {
    ...(video?.poster ? { poster: video.poster } : {}),
    ...(video?.captions ? { captions: video.captions } : {}),
    format,
    files: [...otherFiles, file],
    duration_ms: durationMs ?? video?.duration_ms ?? 15_000,
  };
}

/** Formats a size, such as `1.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
