import type { Wrapper } from './document.ts';
import type { Category, InLineAd, UniversalAdId } from './inline.ts';
import { type Icon, type Layer, type TrackerEvent, trackerEvents } from './layer.ts';
import type { MacroValues } from './macros.ts';
import type { CaptionFile, MediaFile } from './media.ts';
import { type TimeOffset, withoutUndefined } from './values.ts';
import { VastError, type VastErrorCode, vastErrorCodes } from './vast-error.ts';

/** An ad that can be shown, with everything that its chain of wrappers adds. URLs still have macros. */
export interface VastAd {
  title?: string;
  adSystem?: string;
  /** A name or a domain. */
  advertiser?: string;
  adServingId?: string;
  creativeId?: string;
  adId?: string;
  universalAdIds: UniversalAdId[];
  categories: Category[];
  media: MediaFile;
  /** As declared; absent when unknown. The probed duration is what counts. */
  durationMs?: number;
  captions: CaptionFile[];
  icons: Icon[];
  clickThrough?: string;
  /** Absent: the ad does not ask for a skip control. */
  skip?: TimeOffset;
  /** By event; from the outermost wrapper to the InLine ad, each in the order of its document. */
  trackers: Partial<Record<TrackerEvent, string[]>>;
  /** Trackers that are due at a position of the media. */
  progress: { offset: TimeOffset; url: string }[];
  /** Unix milliseconds. */
  expiresAtMs?: number;
}

/** An error that has to be reported: each URL is requested once, with the code for its macro. */
export interface ErrorReport {
  code: VastErrorCode;
  urls: string[];
}

/** An ad with hundreds of trackers would make this service an amplifier. Real chains have about 60. */
const maxTrackers = 300;
/** Why verification scripts do not run: the player does not support them. */
const verificationNotSupported = 2;

/**
 * Adds up a chain. Trackers and icons of all levels count; the click-through URL and the skip offset
 * are those nearest to the InLine ad; the ad expires with the level that expires first.
 *
 * @param wrappers from the outermost
 * @throws VastError when a wrapper blocks the category of the ad, or there are too many trackers.
 */
export function combine(wrappers: readonly Wrapper[], inline: InLineAd, nowMs: number): VastAd {
  checkCategories(wrappers, inline);
  const layers: readonly Layer[] = [...wrappers, inline];
  const nearest = layers.toReversed();
  const all = layers.flatMap(({ trackers }) => trackers);
  if (all.length > maxTrackers) {
    throw new VastError(
      vastErrorCodes.undefined,
      `The ad has ${all.length} trackers; expected at most ${maxTrackers}.`,
    );
  }
  const expiries = layers.flatMap(({ expiresS }) => expiresS ?? []);
  const urlsOf = (event: TrackerEvent) =>
    all.filter((tracker) => tracker.event === event).map(({ url }) => url);
  const byEvent = trackerEvents
    .filter((event) => event !== 'progress')
    .map((event) => [event, urlsOf(event)] as const)
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
    icons: onePerProgram(nearest.flatMap(({ icons }) => icons)),
    clickThrough: nearest.find(({ clickThrough }) => clickThrough !== undefined)?.clickThrough,
    skip: nearest.find(({ skip }) => skip !== undefined)?.skip,
    trackers: Object.fromEntries(byEvent),
    progress: all.flatMap(({ offset, url }) => (offset === undefined ? [] : { offset, url })),
    expiresAtMs: expiries.length > 0 ? nowMs + Math.min(...expiries) * 1_000 : undefined,
  });
}

/** Of several icons of one program, the one nearest to the InLine ad. Icons without a program all count. */
const onePerProgram = (icons: readonly Icon[]): Icon[] =>
  icons.filter(
    ({ program }, index) =>
      program === undefined || icons.findIndex((icon) => icon.program === program) === index,
  );

function checkCategories(wrappers: readonly Wrapper[], { categories }: InLineAd): void {
  const blocked = wrappers.flatMap(({ blockedCategories }) => blockedCategories);
  const hit = categories.find((category) => blocked.some((block) => covers(block, category)));
  if (!hit) return;
  throw new VastError(
    vastErrorCodes.blockedCategory,
    `A wrapper blocks category ${hit.code} of the ad.`,
  );
}

/** `IAB7` covers `IAB7-39`. Codes of different authorities have nothing in common. */
function covers(block: Category, category: Category): boolean {
  const differ = block.authority !== undefined && category.authority !== undefined;
  if (differ && block.authority !== category.authority) return false;
  return category.code === block.code || category.code.startsWith(`${block.code}-`);
}

/** The values that only the ad can give, for the trackers of its whole chain. */
export const adMacros = (ad: VastAd): MacroValues => ({
  REASON: verificationNotSupported,
  ADTYPE: 'video',
  ASSETURI: ad.media.url,
  ...(ad.adServingId !== undefined && { ADSERVINGID: ad.adServingId }),
  ...(ad.universalAdIds.length > 0 && {
    UNIVERSALADID: ad.universalAdIds.map(({ registry, id }) => `${registry} ${id}`),
  }),
});
