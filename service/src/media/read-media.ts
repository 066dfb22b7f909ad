import { videoDurationMs } from '@trueward/protocol';
import { DomainError } from '../platform/domain-error.ts';
import { isActive, isComplete, type MediaType, sniffMediaType } from './media-type.ts';

/** Properties read from a file's content. */
export interface MediaProperties {
  type: MediaType;
  /** Pixels. */
  width?: number;
  height?: number;
  durationMs?: number;
  /** RFC 6381 notation, for the `codecs` parameter of a media type: `avc1.42c01e`. */
  videoCodec?: string;
  audioCodec?: string;
}

/**
 * Maximum width and height, as in the schemas. Without a limit, decoding a tiny file (a decompression bomb) could
 * exhaust a device's memory.
 */
const maxPixels = 8_192;
/** Maximum size of HTML and SVG files. */
const maxTextBytes = 1_048_576;

/**
 * Reads a file's type and properties from its content. A hostile file can take any amount of time and memory, so only
 * the probe thread may call this.
 *
 * @throws DomainError when the file is unsupported or corrupt.
 */
export async function readMedia(body: Buffer): Promise<MediaProperties> {
  const type = await sniffMediaType(body);
  if (!type) {
    throw rejection(
      'is not MP4, WebM, PNG, JPEG, WebP, GIF, AVIF, SVG or HTML (as detected by its content)',
    );
  }
  if (!isComplete(type, body)) throw rejection(`is ${type}, but truncated`);
  if (isActive(type)) checkText(body);
  const properties = await readProperties(type, body);
  if (type === 'text/html') return properties;
  const { width = 0, height = 0 } = properties;
  const fits = (pixels: number) => pixels >= 1 && pixels <= maxPixels;
  if (type !== 'image/svg+xml' && !(fits(width) && fits(height)))
    throw rejection(`is ${width} × ${height} pixels; expected at most ${maxPixels} × ${maxPixels}`);
  const { durationMs } = properties;
  const { minimum, maximum } = videoDurationMs;
  if (durationMs !== undefined && !(durationMs >= minimum && durationMs <= maximum))
    throw rejection(
      `is ${durationMs / 1_000} s long; a video must be ${minimum / 1_000} to ${maximum / 1_000} s long`,
    );
  return properties;
}

async function readProperties(type: MediaType, body: Buffer): Promise<MediaProperties> {
  if (type === 'text/html') return { type };
  try {
    return type.startsWith('video/') ? await readVideo(type, body) : await readImage(type, body);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw rejection(`appears to be ${type}, but cannot be parsed`);
  }
}

async function readVideo(type: MediaType, body: Buffer): Promise<MediaProperties> {
  // Loaded on the first upload, because loading takes half a second.
  const { BufferSource, Input, Logging, LogLevel, MP4, WEBM } = await import('mediabunny');
  // Keeps the library's warnings out of the log.
  Logging.level = LogLevel.Silent;
  const input = new Input({ formats: [MP4, WEBM], source: new BufferSource(body) });
  const video = await input.getPrimaryVideoTrack();
  const videoCodec = await video?.getCodecParameterString();
  if (!video || !videoCodec)
    throw rejection(`is ${type} without a video track that browsers support`);
  const audioCodec = await (await input.getPrimaryAudioTrack())?.getCodecParameterString();
  return {
    type,
    width: await video.getDisplayWidth(),
    height: await video.getDisplayHeight(),
    durationMs: Math.round((await input.computeDuration()) * 1_000),
    videoCodec,
    ...(audioCodec ? { audioCodec } : {}),
  };
}

async function readImage(type: MediaType, body: Buffer): Promise<MediaProperties> {
  const { imageSize } = await import('image-size');
  const { width, height } = imageSize(body);
  return { type, width, height };
}

function checkText(body: Buffer): void {
  if (body.length > maxTextBytes) throw rejection('contains more than 1 MiB of text');
  const text = new TextDecoder('utf-8', { fatal: true });
  try {
    text.decode(body);
  } catch {
    throw rejection('is text, but not valid UTF-8');
  }
  // A few lines of nested entities can expand to gigabytes (billion laughs attack).
  if (body.includes('<!ENTITY')) throw rejection('declares entities');
}

const rejection = (problem: string): DomainError =>
  new DomainError('invalid_request', `The file ${problem}.`);
