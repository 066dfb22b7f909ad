import { createUrlReader, type Layer, readLayer, type UrlRules } from './layer.ts';
import {
  type CaptionFile,
  chooseMedia,
  type LinearMedia,
  type MediaFile,
  type MediaTarget,
  readMedia,
} from './media.ts';
import {
  toOffsetMs,
  parseDuration,
  shortText,
  type TimeOffset,
  withoutUndefined,
} from './values.ts';
import { VastError, vastErrorCodes } from './vast-error.ts';
import { findChild, findChildren, type XmlElement } from './xml.ts';

/** Requirements that an ad must meet so that our video player can show it. */
export interface AdRules extends UrlRules {
  media: MediaTarget;
  /**
   * Limits on the declared duration. If an ad doesn't declare its duration, the limits are checked after its media has
   * been probed.
   */
  minDurationMs: number;
  maxDurationMs: number;
  /** Earliest position at which an ad may allow skipping. */
  minSkipMs: number;
}

export interface Category {
  /** URL of the organization that defines the code. */
  authority?: string;
  code: string;
}

/** Identifies a creative across ad servers. */
export interface UniversalAdId {
  registry: string;
  id: string;
}

/** The ad at the end of a wrapper chain, which has a linear creative. */
export interface InLineAd extends Layer {
  title?: string;
  /** Name or domain. */
  advertiser?: string;
  adServingId?: string;
  creativeId?: string;
  adId?: string;
  universalAdIds: UniversalAdId[];
  categories: Category[];
  media: MediaFile;
  /** The declared duration; absent if the ad server sent none or zero. */
  durationMs?: number;
  captions: CaptionFile[];
  /** Whether the ad has an interactive part, which is ignored and reported as error 409. */
  isInteractive: boolean;
}

/**
 * Parses an InLine ad. Uses the first linear creative with playable media. Ignores companion ads.
 *
 * @param adType the `Ad` element's `adType` attribute; absent before VAST 4.1
 * @throws VastError when the video player cannot or must not show the ad.
 */
export function readInLine(body: XmlElement, adType: string | undefined, rules: AdRules): InLineAd {
  if (adType === 'audio') {
    throw new VastError(vastErrorCodes.trafficking, 'The ad is an audio ad; expected a video ad.');
  }
  const { creative, linear, media, file } = chooseLinear(body, rules);
  const layer = readLayer(body, [linear], rules);
  // Many ad servers send zero for “unknown”.
  const durationMs = parseDuration(findChild(linear, 'Duration')?.text) || undefined;
  checkDuration(durationMs, rules);
  return withoutUndefined({
    title: shortText(findChild(body, 'AdTitle')?.text),
    advertiser: shortText(findChild(body, 'Advertiser')?.text),
    adServingId: shortText(findChild(body, 'AdServingId')?.text),
    creativeId: shortText(creative.attributes.get('id')),
    adId: shortText(creative.attributes.get('adid')),
    universalAdIds: readUniversalAdIds(creative),
    categories: readCategories(findChildren(body, 'Category')),
    media: file,
    durationMs,
    captions: media.captions,
    isInteractive: media.isInteractive,
    ...layer,
  });
}

interface ChosenLinear {
  creative: XmlElement;
  linear: XmlElement;
  media: LinearMedia;
  file: MediaFile;
}

function chooseLinear(body: XmlElement, rules: AdRules): ChosenLinear {
  const creatives = listCreatives(body);
  const unplayableReasons: string[] = [];
  for (const creative of creatives) {
    const linear = findChild(creative, 'Linear');
    if (!linear) continue;
    const media = readMedia(linear, createUrlReader(rules, []));
    const file = chooseMedia(media.playableFiles, rules.media);
    if (file) return { creative, linear, media, file };
    unplayableReasons.push(...media.unplayableReasons);
    if (media.unplayableReasons.length === 0) unplayableReasons.push('is missing');
  }
  if (unplayableReasons.length > 0) {
    const problems = [...new Set(unplayableReasons)].slice(0, 10).join('; ');
    throw new VastError(
      vastErrorCodes.media,
      `No media file can be played. Expected progressive MP4 or WebM; the file ${problems}.`,
    );
  }
  if (creatives.some((creative) => findChild(creative, 'NonLinearAds'))) {
    throw new VastError(vastErrorCodes.linearity, 'The ad is non-linear; expected a linear ad.');
  }
  throw new VastError(vastErrorCodes.schema, 'The ad has no Linear creative.');
}

export const listCreatives = (body: XmlElement): readonly XmlElement[] =>
  findChildren(findChild(body, 'Creatives'), 'Creative');

function checkDuration(durationMs: number | undefined, rules: AdRules): void {
  if (durationMs === undefined) return;
  if (durationMs >= rules.minDurationMs && durationMs <= rules.maxDurationMs) return;
  throw new VastError(
    vastErrorCodes.duration,
    `The ad lasts ${durationMs} ms; expected ${rules.minDurationMs} to ${rules.maxDurationMs} ms.`,
  );
}

/**
 * Checks the skip offset. If the offset is a percentage and the duration is unknown, it is ignored: the ad gets no skip
 * control.
 *
 * @throws VastError when the ad can be skipped too early.
 */
export function checkSkip(
  skip: TimeOffset | undefined,
  durationMs: number | undefined,
  { minSkipMs }: Pick<AdRules, 'minSkipMs'>,
): void {
  const skipMs = skip && toOffsetMs(skip, durationMs);
  if (skipMs === undefined || skipMs >= minSkipMs) return;
  throw new VastError(
    vastErrorCodes.trafficking,
    `The ad can be skipped after ${Math.floor(skipMs)} ms; expected at least ${minSkipMs} ms.`,
  );
}

/** Reads ids from the text or, for VAST 4.0, from an attribute. Ignores the id “unknown”. */
function readUniversalAdIds(creative: XmlElement): UniversalAdId[] {
  return findChildren(creative, 'UniversalAdId')
    .flatMap(({ attributes, text }) => {
      const registry = shortText(attributes.get('idregistry')?.trim());
      const id = shortText(text) ?? shortText(attributes.get('idvalue')?.trim());
      if (registry === undefined || id === undefined) return [];
      return [registry, id].some((part) => /^unknown$/i.test(part)) ? [] : { registry, id };
    })
    .slice(0, 16);
}

/** Returns the codes in `Category` or `BlockedAdCategories` elements. One element may list several codes. */
export const readCategories = (elements: readonly XmlElement[]): Category[] =>
  elements
    .flatMap(({ attributes, text }) => {
      const authority = shortText(attributes.get('authority')?.trim());
      const codes = text
        .slice(0, 4_000)
        .split(',')
        .flatMap((code) => shortText(code.trim()) ?? []);
      return codes.map((code) => withoutUndefined({ authority, code }));
    })
    .slice(0, maxCategories);

export const maxCategories = 64;
