import type { UrlReader } from './layer.ts';
import { parsePositive, shortText, withoutUndefined } from './values.ts';
import { findChild, findChildren, type XmlElement } from './xml.ts';

/** A file that a browser should be able to play, according to the ad's markup. Intake checks the actual file later. */
export interface MediaFile {
  url: string;
  type: 'video/mp4' | 'video/webm';
  /** Pixels. */
  width?: number;
  height?: number;
  /** Kilobits per second. */
  bitrate?: number;
  codec?: string;
  bytes?: number;
}

export interface CaptionFile {
  url: string;
  type: 'text/vtt';
  /** BCP 47 tag, such as `zh-TW`. */
  language?: string;
}

export interface LinearMedia {
  playableFiles: MediaFile[];
  /** Why each of the other files can't be played. */
  unplayableReasons: string[];
  captions: CaptionFile[];
  /** Whether the ad also has an interactive part, which the video player does not run. */
  isInteractive: boolean;
}

/** The video player's size and limits, which determine which media file is chosen. */
export interface MediaTarget {
  /** Device pixels. */
  width: number;
  height: number;
  /** Kilobits per second. */
  maxBitrate: number;
  maxBytes: number;
}

export function readMedia(linear: XmlElement, urlReader: UrlReader): LinearMedia {
  const container = findChild(linear, 'MediaFiles');
  const playableFiles: MediaFile[] = [];
  const unplayableReasons: string[] = [];
  for (const file of findChildren(container, 'MediaFile')) {
    const media = readMediaFile(file, urlReader);
    if (typeof media === 'string') unplayableReasons.push(media);
    else playableFiles.push(media);
  }
  return {
    playableFiles,
    unplayableReasons,
    captions: findChildren(findChild(container, 'ClosedCaptionFiles'), 'ClosedCaptionFile')
      .flatMap((caption) => readCaption(caption, urlReader) ?? [])
      .slice(0, 32),
    isInteractive: findChild(container, 'InteractiveCreativeFile') !== undefined,
  };
}

/**
 * Chooses the best file for the video player. Prefers MP4 over WebM, then files within the bitrate and size limits,
 * then the file whose area is closest to the video player's, then the higher bitrate, then the earlier position in the
 * document.
 */
export function chooseMedia(
  files: readonly MediaFile[],
  target: MediaTarget,
): MediaFile | undefined {
  const rank = (file: MediaFile): number[] => [
    file.type === 'video/mp4' ? 0 : 1,
    (file.bitrate ?? 0) <= target.maxBitrate && (file.bytes ?? 0) <= target.maxBytes ? 0 : 1,
    computeDistance(file, target),
    -(file.bitrate ?? 0),
  ];
  const rankedFiles = files.map((file) => ({ file, rank: rank(file) }));
  return rankedFiles.toSorted((a, b) => compareRanks(a.rank, b.rank))[0]?.file;
}

/**
 * Returns how much the file's area differs from the video player's, as the absolute value of the logarithm of their
 * ratio. A file of unknown size has the maximum distance.
 */
const computeDistance = ({ width, height }: MediaFile, target: MediaTarget): number =>
  width === undefined || height === undefined
    ? Number.MAX_VALUE
    : Math.abs(Math.log2((width * height) / (target.width * target.height)));

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

const playableTypes: readonly string[] = ['video/mp4', 'video/webm'] satisfies MediaFile['type'][];
const isPlayable = (type: string): type is MediaFile['type'] => playableTypes.includes(type);
/** HEVC and Dolby Vision, which only some browsers support. */
const unplayableCodec = /^(hev1|hvc1|hevc|h\.?265|dvh)/i;

/** Returns the file, or why it can't be played. */
function readMediaFile(file: XmlElement, urlReader: UrlReader): MediaFile | string {
  const { attributes } = file;
  const [type = ''] = (attributes.get('type') ?? '').trim().toLowerCase().split(/\s*;/, 1);
  const codec = shortText(attributes.get('codec')?.trim());
  const framework = detectFramework(file);
  if (framework !== undefined) return `needs ${framework}`;
  if (!isPlayable(type)) return `is ${type.slice(0, 60) || 'of no declared type'}`;
  if (attributes.get('delivery')?.trim().toLowerCase() === 'streaming') return 'is streamed';
  if (codec !== undefined && unplayableCodec.test(codec)) return `has codec ${codec}`;
  const media = urlReader.media(file.text);
  if (media === undefined) return 'has no usable URL';
  return withoutUndefined({
    url: media,
    type,
    width: parsePositive(attributes.get('width')),
    height: parsePositive(attributes.get('height')),
    bitrate: parsePositive(attributes.get('bitrate') ?? attributes.get('maxbitrate')),
    codec,
    bytes: parsePositive(attributes.get('filesize')),
  });
}

/** Returns `VPAID` or `SIMID`. Servers also send other values, such as `VAST`, which have no effect. */
const detectFramework = ({ attributes }: XmlElement): string | undefined =>
  /vpaid|simid/i.exec(attributes.get('apiframework') ?? '')?.[0].toUpperCase();

/** Reads a caption file. Returns undefined for formats other than WebVTT, because browsers display only WebVTT. */
function readCaption(caption: XmlElement, urlReader: UrlReader): CaptionFile | undefined {
  if (caption.attributes.get('type')?.trim().toLowerCase() !== 'text/vtt') return undefined;
  const file = urlReader.media(caption.text);
  if (file === undefined) return undefined;
  const language = shortText(caption.attributes.get('language')?.trim());
  return withoutUndefined({ url: file, type: 'text/vtt' as const, language });
}
