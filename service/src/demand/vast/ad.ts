import type { Wrapper } from './document.ts';
import type { Category, InLineAd, UniversalAdId } from './inline.ts';
import { type Icon, type Layer, type TrackerEvent, trackerEvents } from './layer.ts';
import type { MacroValues } from './macros.ts';
import type { CaptionFile, MediaFile } from './media.ts';
import { type TimeOffset, withoutUndefined } from './values.ts';
import { VastError, type VastErrorCode, vastErrorCodes } from './vast-error.ts';
import { normalizeCategory, normalizeDomain } from '../../platform/names.ts';

/** An ad that can be shown, merged with all of its wrappers. The macros in its URLs are not expanded yet. */
export interface VastAd {
  title?: string;
  adSystem?: string;
  /** Name or domain. */
  advertiser?: string;
  adServingId?: string;
  creativeId?: string;
  adId?: string;
  universalAdIds: UniversalAdId[];
  categories: Category[];
  media: MediaFile;
  /** The declared duration, if known. It may be wrong, unlike the probed duration. */
  durationMs?: number;
  captions: CaptionFile[];
  icons: Icon[];
  clickThrough?: string;
  /** Absent if the ad does not request a skip control. */
  skip?: TimeOffset;
  /**
   * The URLs for each event, from the outermost wrapper to the InLine ad. Within a level, they are in document order.
   */
  trackers: Partial<Record<TrackerEvent, string[]>>;
  /** Trackers that are due at a playback position. */
  progress: { offset: TimeOffset; url: string }[];
  /** Unix milliseconds. */
  expiresAtMs?: number;
}

/** An error to report. Each URL is requested once, with `code` as the value of the `ERRORCODE` macro. */
export interface ErrorReport {
  code: VastErrorCode;
  urls: string[];
}

/**
 * Maximum number of trackers per ad, so that the service cannot be abused to flood other hosts with requests. Real
 * chains have about 60 trackers.
 */
const maxTrackers = 300;
/** VAST reason code: the video player does not support verification scripts. */
const verificationNotSupported = 2;

/**
 * Merges a wrapper chain into one ad. The ad combines the trackers and icons from all levels. Its click-through URL and
 * skip offset come from the level nearest to the InLine ad. The earliest expiry applies.
 *
 * @param wrappers outermost first
 * @throws VastError when a wrapper blocks the ad's category, or there are too many trackers.
 */
export function mergeChain(wrappers: readonly Wrapper[], inline: InLineAd, nowMs: number): VastAd {
  checkCategories(wrappers, inline);
  const layers: readonly Layer[] = [...wrappers, inline];
  const nearestFirst = layers.toReversed();
  const trackers = layers.flatMap((layer) => layer.trackers);
  if (trackers.length > maxTrackers) {
    throw new VastError(
      vastErrorCodes.undefined,
      `The ad has ${trackers.length} trackers; expected at most ${maxTrackers}.`,
    );
  }
  const expiries = layers.flatMap(({ expiresInS }) => expiresInS ?? []);
  const collectUrls = (event: TrackerEvent) =>
    trackers.filter((tracker) => tracker.event === event).map(({ url }) => url);
  const byEvent = trackerEvents
    .filter((event) => event !== 'progress')
    .map((event) => [event, collectUrls(event)] as const)
    .filter(([, urls]) => urls.length > 0);
  return withoutUndefined({
    title: inline.title,
    adSystem: inline.adSystem,
    advertiser: inline.advertiser,
    adServingId: inline.adServingId,
    creativeId: inline.creativeId,
    adId: inline.adId,
    universalAdIds: inline.universalAdIds,
    categories: inline.categories,
    media: inline.media,
    durationMs: inline.durationMs,
    captions: inline.captions,
    icons: keepOneIconPerProgram(nearestFirst.flatMap(({ icons }) => icons)),
    clickThrough: nearestFirst.find(({ clickThrough }) => clickThrough !== undefined)?.clickThrough,
    skip: nearestFirst.find(({ skip }) => skip !== undefined)?.skip,
    trackers: Object.fromEntries(byEvent),
    progress: trackers.flatMap(({ offset, url }) => (offset === undefined ? [] : { offset, url })),
    expiresAtMs: expiries.length > 0 ? nowMs + Math.min(...expiries) * 1_000 : undefined,
  });
}

/**
 * Keeps only the first icon of each program, which is the one nearest to the InLine ad. Keeps all icons without a
 * program.
 */
const keepOneIconPerProgram = (icons: readonly Icon[]): Icon[] =>
  icons.filter(
    ({ program }, index) =>
      program === undefined || icons.findIndex((icon) => icon.program === program) === index,
  );

function checkCategories(wrappers: readonly Wrapper[], { categories }: InLineAd): void {
  const blocked = wrappers.flatMap(({ blockedCategories }) => blockedCategories);
  const match = categories.find((category) =>
    blocked.some((block) => coversCategory(block, category)),
  );
  if (!match) return;
  throw new VastError(
    vastErrorCodes.blockedCategory,
    `A wrapper blocks the ad's category ${match.code}.`,
  );
}

/** Whether a block covers a category: `IAB7` covers `IAB7-39`. Codes from different authorities never match. */
function coversCategory(block: Category, category: Category): boolean {
  const haveAuthorities = block.authority !== undefined && category.authority !== undefined;
  if (haveAuthorities && toHost(block.authority) !== toHost(category.authority)) return false;
  const [blocked, code] = [toCode(block), toCode(category)];
  return code === blocked || code.startsWith(`${blocked}-`);
}

/** Authorities are URLs, which ad servers write in different ways. */
const toHost = (authority = ''): string => normalizeDomain(authority) ?? authority.toLowerCase();
const toCode = ({ code }: Category): string => (normalizeCategory(code) ?? code).toLowerCase();

/** Returns the macro values that describe the ad. They apply to all trackers in its chain. */
export const makeAdMacros = (ad: VastAd): MacroValues => ({
  REASON: verificationNotSupported,
  ADTYPE: 'video',
  ASSETURI: ad.media.url,
  ...(ad.adServingId !== undefined && { ADSERVINGID: ad.adServingId }),
  ...(ad.universalAdIds.length > 0 && {
    UNIVERSALADID: ad.universalAdIds.map(({ registry, id }) => `${registry} ${id}`),
  }),
});
