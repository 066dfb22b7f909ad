import { createUrlReader, type Layer, readLayer, type UrlRules } from './layer.ts';
import {
  type CaptionFile,
  chooseMedia,
  type LinearMedia,
  type MediaFile,
  type MediaTarget,
  readMedia,
} from './media.ts';
import { offsetMs, parseDuration, shortText, type TimeOffset, withoutUndefined } from './values.ts';
import { VastError, vastErrorCodes } from './vast-error.ts';
import { childOf, childrenOf, type XmlElement } from './xml.ts';

/** What this player accepts. */
export interface AdRules extends UrlRules {
  media: MediaTarget;
  /** Of the declared duration; an ad that declares none is judged after it was probed. */
  minDurationMs: number;
  maxDurationMs: number;
  /** The earliest moment at which an ad may be skipped. */
  minSkipMs: number;
}

export interface Category {
  /** Who defines the code, as a URL. */
  authority?: string;
  code: string;
}

/** Identifies a creative across ad servers. */
export interface UniversalAdId {
  registry: string;
  id: string;
}

/** The end of a chain: an ad with its own linear creative. */
export interface InLineAd extends Layer {
  title?: string;
  /** A name or a domain. */
  advertiser?: string;
  adServingId?: string;
  creativeId?: string;
  adId?: string;
  universalAdIds: UniversalAdId[];
  categories: Category[];
  media: MediaFile;
  /** As declared; absent when the ad server sent none, or zero. */
  durationMs?: number;
  captions: CaptionFile[];
  /** Whether an interactive part was left out, which is reported as error 409. */
  isInteractive: boolean;
}

/**
 * Reads an InLine ad that this player can show as it is. Of several linear creatives, the first that has
 * playable media counts. Companions are ignored.
 *
 * @param adType the attribute of the `Ad` element; absent before VAST 4.1
 * @throws VastError when the player cannot or must not show the ad.
 */
export function readInLine(body: XmlElement, adType: string | undefined, rules: AdRules): InLineAd {
  if (adType === 'audio') {
    throw new VastError(vastErrorCodes.trafficking, 'The ad is audio; expected a video.');
  }
  const { creative, linear, media, file } = chooseLinear(body, rules);
  const layer = readLayer(body, [linear], rules);
  // Zero stands for “unknown” with many ad servers.
  const durationMs = parseDuration(childOf(linear, 'Duration')?.text) || undefined;
  checkDuration(durationMs, rules);
  return withoutUndefined({
    ...layer,
    title: shortText(childOf(body, 'AdTitle')?.text),
    advertiser: shortText(childOf(body, 'Advertiser')?.text),
    adServingId: shortText(childOf(body, 'AdServingId')?.text),
    creativeId: shortText(creative.attributes.get('id')),
    adId: shortText(creative.attributes.get('adid')),
    universalAdIds: readUniversalAdIds(creative),
    categories: readCategories(childrenOf(body, 'Category')),
    media: file,
    durationMs,
    captions: media.captions,
    isInteractive: media.isInteractive,
  });
}

interface ChosenLinear {
  creative: XmlElement;
  linear: XmlElement;
  media: LinearMedia;
  file: MediaFile;
}

function chooseLinear(body: XmlElement, rules: AdRules): ChosenLinear {
  const creatives = creativesOf(body);
  const unplayable: string[] = [];
  for (const creative of creatives) {
    const linear = childOf(creative, 'Linear');
    if (!linear) continue;
    const media = readMedia(linear, createUrlReader(rules, []));
    const file = chooseMedia(media.playable, rules.media);
    if (file) return { creative, linear, media, file };
    unplayable.push(...media.unplayable);
    if (media.unplayable.length === 0) unplayable.push('is missing');
  }
  if (unplayable.length > 0) {
    const what = [...new Set(unplayable)].slice(0, 10).join('; ');
    throw new VastError(
      vastErrorCodes.media,
      `No media file can be played. Expected progressive MP4 or WebM; the file ${what}.`,
    );
  }
  if (creatives.some((creative) => childOf(creative, 'NonLinearAds'))) {
    throw new VastError(vastErrorCodes.linearity, 'The ad is non-linear; expected a linear one.');
  }
  throw new VastError(vastErrorCodes.schema, 'The ad has no Linear creative.');
}

export const creativesOf = (body: XmlElement): readonly XmlElement[] =>
  childrenOf(childOf(body, 'Creatives'), 'Creative');

function checkDuration(durationMs: number | undefined, rules: AdRules): void {
  if (durationMs === undefined) return;
  if (durationMs >= rules.minDurationMs && durationMs <= rules.maxDurationMs) return;
  throw new VastError(
    vastErrorCodes.duration,
    `The ad lasts ${durationMs} ms; expected ${rules.minDurationMs} to ${rules.maxDurationMs} ms.`,
  );
}

/**
 * A percentage of an unknown duration is judged after the media was probed.
 *
 * @throws VastError when the ad could be skipped too early.
 */
export function checkSkip(
  skip: TimeOffset | undefined,
  durationMs: number | undefined,
  { minSkipMs }: Pick<AdRules, 'minSkipMs'>,
): void {
  const skipMs = skip && offsetMs(skip, durationMs);
  if (skipMs === undefined || skipMs >= minSkipMs) return;
  throw new VastError(
    vastErrorCodes.trafficking,
    `The ad can be skipped after ${Math.floor(skipMs)} ms; expected at least ${minSkipMs} ms.`,
  );
}

/** VAST 4.0 has the id in an attribute, later versions in the text; “unknown” identifies nothing. */
function readUniversalAdIds(creative: XmlElement): UniversalAdId[] {
  return childrenOf(creative, 'UniversalAdId')
    .flatMap(({ attributes, text }) => {
      const registry = shortText(attributes.get('idregistry')?.trim());
      const id = shortText(text) ?? shortText(attributes.get('idvalue')?.trim());
      if (registry === undefined || id === undefined) return [];
      return [registry, id].some((part) => /^unknown$/i.test(part)) ? [] : { registry, id };
    })
    .slice(0, 16);
}

/** The codes of `Category` or `BlockedAdCategories` elements, each of which may list several. */
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
