import { createHash } from 'node:crypto';
import { RefusedError } from '../platform/refused-error.ts';
import type { MediaStore } from './media-store.ts';
import {
  mediaExtensions,
  type MediaType,
  isWhole,
  isActive,
  sniffMediaType,
} from './media-type.ts';
import type { Uploads } from './uploads.ts';

/** A file that was taken in. */
export interface TakenMedia extends MediaFacts {
  /** `<sha-256 of the content>.<extension of its type>` */
  name: string;
  sha256: string;
  bytes: number;
}

/**
 * Checks a file and stores it under the hash of its content. `claimed` is the media type that it is
 * said to have; a file that is another one is refused, because somebody is deceived by it.
 *
 * @throws RefusedError when no ad can be made of it.
 */
type TakeMedia = (body: Buffer, claimed: string | undefined) => Promise<TakenMedia>;

export const createTakeMedia =
  (store: MediaStore, uploads: Pick<Uploads, 'note'>): TakeMedia =>
  async (body, claimed) => {
    const facts = await readMedia(body);
    if (claimed !== undefined && claimed !== facts.type) {
      throw new RefusedError(
        'invalid_request',
        `The file is ${facts.type}, but is named or sent as ${claimed.slice(0, 100)}.`,
      );
    }
    const sha256 = createHash('sha256').update(body).digest('hex');
    const name = `${sha256}.${mediaExtensions[facts.type]}`;
    await uploads.note(name);
    await store.put(name, body, facts.type);
    return { ...facts, name, sha256, bytes: body.length };
  };

const pattern = new RegExp(`^[0-9a-f]{64}\\.(${Object.values(mediaExtensions).join('|')})$`);

/** The type of a stored file by its name; undefined: {@link TakeMedia} gives no such names. */
export function storedTypeOf(name: string): MediaType | undefined {
  const extension = pattern.exec(name)?.[1];
  const types = Object.keys(mediaExtensions) as MediaType[];
  return types.find((type) => mediaExtensions[type] === extension);
}

/** What a file says of itself. */
export interface MediaFacts {
  type: MediaType;
  /** Pixels. */
  width?: number;
  height?: number;
  durationMs?: number;
  /** As RFC 6381 writes it, for the `codecs` of a media type: `avc1.42c01e`. */
  videoCodec?: string;
  audioCodec?: string;
}

/** The contract knows no larger pictures; a few bytes can claim any size, and a player's device would believe them. */
const mostPixels = 8_192;
/** As long as the contract lets a video be. */
const leastMs = 1_000;
const mostMs = 120_000;
/** A page or a drawing is written by hand or by a tool, not filmed. */
const mostTextBytes = 1_048_576;

/**
 * Reads what a file is by its content.
 *
 * @throws RefusedError when it is nothing that an ad can be made of, or is broken.
 */
export async function readMedia(body: Buffer): Promise<MediaFacts> {
  const type = await sniffMediaType(body);
  if (!type) {
    throw refusal(
      'is none of MP4, WebM, PNG, JPEG, WebP, GIF, AVIF, SVG and HTML: its content decides, not its name',
    );
  }
  if (!isWhole(type, body)) throw refusal(`is ${type}, but its end is missing`);
  if (isActive(type)) checkText(body);
  const facts = await readFacts(type, body);
  if (type === 'text/html') return facts;
  const { width = 0, height = 0 } = facts;
  const fits = (pixels: number) => pixels >= 1 && pixels <= mostPixels;
  if (type !== 'image/svg+xml' && !(fits(width) && fits(height)))
    throw refusal(`measures ${width} × ${height}; at most ${mostPixels} × ${mostPixels} is shown`);
  const { durationMs } = facts;
  if (durationMs !== undefined && !(durationMs >= leastMs && durationMs <= mostMs))
    throw refusal(`lasts ${durationMs / 1_000} s; an ad has 1 to ${mostMs / 1_000} s`);
  return facts;
}

async function readFacts(type: MediaType, body: Buffer): Promise<MediaFacts> {
  if (type === 'text/html') return { type };
  try {
    return type.startsWith('video/') ? await readVideo(type, body) : await readImage(type, body);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    throw refusal(`says that it is ${type}, but cannot be read`);
  }
}

async function readVideo(type: MediaType, body: Buffer): Promise<MediaFacts> {
  // Loaded with the first upload: it takes half a second.
  const { BufferSource, Input, Logging, LogLevel, MP4, WEBM } = await import('mediabunny');
  // What it finds odd in a file is no message for the service's log.
  Logging.level = LogLevel.Silent;
  const input = new Input({ formats: [MP4, WEBM], source: new BufferSource(body) });
  const video = await input.getPrimaryVideoTrack();
  const videoCodec = await video?.getCodecParameterString();
  if (!video || !videoCodec) throw refusal(`is ${type} without a video track that browsers know`);
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

async function readImage(type: MediaType, body: Buffer): Promise<MediaFacts> {
  const { imageSize } = await import('image-size');
  const { width, height } = imageSize(body);
  return { type, width, height };
}

function checkText(body: Buffer): void {
  if (body.length > mostTextBytes) throw refusal('has more than 1 MiB of text');
  const text = new TextDecoder('utf-8', { fatal: true });
  try {
    text.decode(body);
  } catch {
    throw refusal('is text, but not in UTF-8');
  }
  // Few characters that unfold to gigabytes.
  if (body.includes('<!ENTITY')) throw refusal('declares entities');
}

const refusal = (what: string): RefusedError =>
  new RefusedError('invalid_request', `The file ${what}.`);
