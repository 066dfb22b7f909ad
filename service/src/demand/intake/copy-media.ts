import type { Creative, Media } from '@trueward/protocol/wire';
import type { Offer } from '../offer.ts';
import { withoutQuery } from '../web-url.ts';
import { maxMediaBytes, type StoreFile } from '../../media/ingest-media.ts';
import type { ProbedFile, ProbeThread } from '../../media/probe-thread.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { type FetchedFile, type FetchMedia, RejectedError } from './fetch-media.ts';

export interface MediaDeps {
  fetchMedia: FetchMedia;
  storeFile: StoreFile;
  probe: ProbeThread['probe'];
  /** Returns the service's public URL. */
  publicUrl(): string;
}

export type VideoMedia = Extract<Media, { format: 'video' }>;
export type CreativeIcon = NonNullable<Creative['icons']>[number];

/** Options for fetching a creative's files. */
export interface FetchRules {
  /** The account that stores the files. */
  accountId: string;
  loopback: boolean;
  signal: AbortSignal;
}

const maxCaptionsBytes = 524_288;
const maxIconBytes = 262_144;
/** Maximum width and height of an icon in pixels. Icons are shown in a corner of the ad. */
const maxIconSize = 1_024;
const maxCaptions = 16;

/** @throws RejectedError when the file cannot be fetched. */
export const fetchVideo = (
  { fetchMedia }: Pick<MediaDeps, 'fetchMedia'>,
  url: string,
  { loopback, signal }: FetchRules,
): Promise<FetchedFile> => fetchMedia({ url, maxBytes: maxMediaBytes, loopback }, signal);

/**
 * Reads a video's properties and stores a copy of the file. Ignores the properties that the source declared.
 *
 * @throws RejectedError when the file cannot be shown to players.
 */
export async function copyVideo(
  deps: MediaDeps,
  accountId: string,
  fetched: FetchedFile,
): Promise<VideoMedia> {
  const { body, properties } = await probe(deps, fetched.body);
  const { type, width, height, durationMs, videoCodec, audioCodec } = properties;
  if (!type.startsWith('video/') || !width || !height || !durationMs || !videoCodec)
    throw new RejectedError('unsupported', `The file is ${type}; expected an MP4 or WebM video.`);
  if (!playableVideoCodec.test(videoCodec))
    throw new RejectedError(
      'unsupported',
      `The file uses the ${videoCodec} codec, which not all browsers support; expected H.264, VP8, VP9 or AV1.`,
    );
  if (audioCodec !== undefined && !playableAudioCodec.test(audioCodec))
    throw new RejectedError(
      'unsupported',
      `The file uses the ${audioCodec} audio codec, which not all browsers support; expected AAC, MP3, Opus or Vorbis.`,
    );
  const { name } = await deps.storeFile(accountId, body, type, fetched.sha256);
  const bitrate = Math.round((body.length * 8_000) / durationMs);
  const codecs = [videoCodec, ...(audioCodec === undefined ? [] : [audioCodec])].join(', ');
  const mime = `${type}; codecs="${codecs}"`;
  return {
    format: 'video',
    files: [
      {
        url: `${deps.publicUrl()}/media/${name}`,
        mime,
        width,
        height,
        bitrate: Math.max(1, bitrate),
      },
    ],
    duration_ms: durationMs,
  };
}

/** Codecs that all browsers can decode, with 8 bits per sample and 4:2:0 chroma subsampling. */
const playableVideoCodec =
  /^(?:avc[13]\.(?:42|4d|58|64)[0-9a-f]{4}|vp8|vp09\.00\.[0-9.]+|av01\.0\.\w+\.08[\w.]*)$/i;
const playableAudioCodec = /^(?:mp4a\.(?:40|69|6b)[0-9a-f.]*|mp3|opus|vorbis|flac)$/i;

async function probe(deps: MediaDeps, body: Buffer): Promise<ProbedFile> {
  try {
    return await deps.probe(body);
  } catch (error) {
    if (error instanceof DomainError) throw new RejectedError('unsupported', error.message);
    throw error;
  }
}

/** Copies captions. Skips unusable captions, because the ad works without them. */
export async function copyCaptions(
  deps: MediaDeps,
  captions: Offer['captions'],
  { accountId, loopback, signal }: FetchRules,
): Promise<NonNullable<VideoMedia['captions']>> {
  const copies: NonNullable<VideoMedia['captions']> = [];
  for (const { url, language } of captions.slice(0, maxCaptions)) {
    const label = describeLanguage(language);
    if (label === undefined || copies.some((other) => other.language === language)) continue;
    try {
      const { body, sha256 } = await deps.fetchMedia(
        { url, maxBytes: maxCaptionsBytes, loopback },
        signal,
      );
      if (!isWebVtt(body)) continue;
      const { name } = await deps.storeFile(accountId, body, 'text/vtt', sha256);
      copies.push({ url: `${deps.publicUrl()}/media/${name}`, language, label });
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
    }
  }
  return copies;
}

/** Returns a language's own name, such as `français`; undefined if the language tag is invalid. */
function describeLanguage(language: string): string | undefined {
  if (language.length > 35) return undefined;
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(language)?.slice(0, 64);
  } catch {
    return undefined;
  }
}

function isWebVtt(body: Buffer): boolean {
  try {
    return /^WEBVTT(?:[ \t\r\n]|$)/.test(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return false;
  }
}

/** @throws RejectedError when the file is not an image of an allowed size. */
export async function copyIcon(
  deps: MediaDeps,
  url: string,
  { accountId, loopback, signal }: FetchRules,
): Promise<CreativeIcon> {
  const fetched = await deps.fetchMedia({ url, maxBytes: maxIconBytes, loopback }, signal);
  const { body, properties, sha256 } = await probe(deps, fetched.body);
  const { type, width = 0, height = 0 } = properties;
  if (!type.startsWith('image/'))
    throw new RejectedError('unsupported', `The icon is ${type}; expected an image.`);
  const fits = (pixels: number) => pixels >= 1 && pixels <= maxIconSize;
  if (!fits(width) || !fits(height))
    throw new RejectedError(
      'unsupported',
      `The icon is ${width} × ${height} pixels; expected at most ${maxIconSize} × ${maxIconSize}.`,
    );
  const { name } = await deps.storeFile(accountId, body, type, sha256);
  return {
    origin_url: withoutQuery(url),
    url: `${deps.publicUrl()}/media/${name}`,
    width: Math.round(width),
    height: Math.round(height),
  };
}
