import type { Notice, Offer } from '../offer.ts';
import { makeAdMacros, type ErrorReport, type VastAd } from '../vast/ad.ts';
import { expandMacros, type MacroValues } from '../vast/macros.ts';
import { resolveVast, type VastResult, type VastRules } from '../vast/resolve.ts';
import { toOffsetMs } from '../vast/values.ts';
import { normalizeDomain } from '../../platform/names.ts';
import { vastErrorCodes } from '../vast/vast-error.ts';
import {
  type SourceCall,
  type PartialResponse,
  makeMacros,
  type OfferRequest,
  makeVastRules,
  type SourceDeps,
} from './offer-request.ts';
import type { ExternalResponse } from './external-client.ts';

export interface VastRequest {
  start: { tagUrl: string } | { markup: string };
  macros: MacroValues;
  rules: VastRules;
  /** Requests a document from the source. */
  fetchDocument(url: string): Promise<ExternalResponse>;
}

/** Finds the ad. Also returns the last response, for the decision's explanation. */
export async function findVastAd(
  { clock, random, pause }: SourceDeps,
  { start, macros, rules, fetchDocument }: VastRequest,
): Promise<{ result: VastResult; lastResponse: ExternalResponse | undefined }> {
  let lastResponse: ExternalResponse | undefined;
  const result = await resolveVast(start, {
    clock,
    random,
    pause,
    macros,
    rules,
    async fetchDocument(url) {
      lastResponse = await fetchDocument(url);
      return lastResponse.status === 'ok'
        ? lastResponse
        : { status: 'failed', reason: lastResponse.reason };
    },
  });
  return { result, lastResponse };
}

/** Returns notices that report errors to the source and its wrappers. */
export const buildErrorNotices = (
  errors: readonly ErrorReport[],
  macros: MacroValues,
  { clock, random }: SourceDeps,
): Notice[] =>
  errors.flatMap(({ code, urls }) =>
    urls.map((url) => ({
      kind: 'error' as const,
      url: expandMacros(
        url,
        { ...macros, ERRORCODE: code },
        { nowMs: clock.nowMs(), random: random() },
      ),
    })),
  );

/** Data that the source provides in addition to the VAST ad. */
export interface Terms {
  sourceId: string;
  priceMicros: number;
  currency: string;
  /** Advertiser domain, if the source provides it outside the VAST ad. */
  advertiserDomain?: string;
  /** The bidder's id for the creative. */
  creativeId?: string;
  categories?: readonly string[];
  burl?: string;
  expiresAtMs?: number;
}

/** Converts a source's ad to an offer. If the ad declares no size, uses the video player's size. */
export function makeOffer(
  ad: VastAd,
  { sourceId, priceMicros, currency, ...terms }: Terms,
  { viewport: player }: OfferRequest,
  macros: MacroValues,
): Offer {
  const { media, icons, skip, durationMs, clickThrough } = ad;
  const domain = terms.advertiserDomain ?? parseDomain(ad.advertiser);
  const skipAfterMs = skip && toOffsetMs(skip, durationMs);
  const expiries = [ad.expiresAtMs, terms.expiresAtMs].filter((ms) => ms !== undefined);
  const [icon] = icons;
  return {
    sourceId,
    creativeKey: chooseCreativeKey(ad, terms.creativeId),
    ...(domain !== undefined && { advertiserDomain: domain }),
    ...(ad.advertiser !== undefined && { advertiserName: ad.advertiser }),
    priceMicros,
    currency,
    media: {
      url: media.url,
      mime: media.type,
      width: media.width ?? player.width,
      height: media.height ?? player.height,
      ...(media.bitrate !== undefined && { bitrate: media.bitrate * 1_000 }),
      ...(durationMs !== undefined && { durationMs }),
    },
    captions: ad.captions.flatMap(({ url, language }) =>
      language === undefined ? [] : { url, language },
    ),
    categories: [...ad.categories.map(({ code }) => code), ...(terms.categories ?? [])],
    ...(clickThrough !== undefined && { clickUrl: clickThrough }),
    ...(icon && { icon }),
    ...(skipAfterMs !== undefined && { skipAfterMs: Math.round(skipAfterMs) }),
    ...(expiries.length > 0 && { expiresAtMs: Math.min(...expiries) }),
    trackers: {
      byEvent: ad.trackers,
      progress: ad.progress,
      ...(terms.burl !== undefined && { burl: terms.burl }),
      macros: { ...selectContextMacros(macros), ...makeAdMacros(ad) },
    },
  };
}

/**
 * The macros that describe the decision request. The player's IP and user agent are filled in later, for each event.
 */
const contextMacros = [
  'DOMAIN',
  'PAGEURL',
  'TRANSACTIONID',
  'REGULATIONS',
  'GDPRCONSENT',
  'GPPSTRING',
] as const;

const selectContextMacros = (macros: MacroValues): MacroValues =>
  Object.fromEntries(
    contextMacros.flatMap((name) => (macros[name] === undefined ? [] : [[name, macros[name]]])),
  );

/** Whether an id is known. Ad servers that have no id send `unknown`, because the standard requires a value. */
const isKnownId = (id: string): boolean => !/^unknown$/i.test(id.trim());

function chooseCreativeKey(ad: VastAd, creativeId: string | undefined): string {
  const universalId = ad.universalAdIds.find(({ id }) => isKnownId(id));
  if (universalId) return `${universalId.registry} ${universalId.id}`;
  const id = creativeId ?? ad.creativeId ?? ad.adId;
  return id ?? ad.media.url.split(/[?#]/, 1)[0] ?? ad.media.url;
}

/**
 * Returns the domain in an `Advertiser` element, which may contain a domain, a URL or a name. Returns undefined for a
 * name.
 */
const parseDomain = (advertiser: string | undefined): string | undefined =>
  advertiser === undefined ? undefined : normalizeDomain(advertiser);

/** Requests an offer from a VAST tag. */
export async function callTag(call: SourceCall, tagUrl: string): Promise<PartialResponse> {
  const { source, request, deps, send } = call;
  const macros = makeMacros(request);
  const { result, lastResponse } = await findVastAd(deps, {
    start: { tagUrl },
    macros,
    rules: makeVastRules(request),
    fetchDocument: send,
  });
  const description = describeResult(result, lastResponse);
  const notices = buildErrorNotices(result.errors, macros, deps);
  if (!result.ad) return { notices, ...description };
  const terms = { sourceId: source.id, priceMicros: source.cpm_micros, currency: source.currency };
  return { notices, offer: makeOffer(result.ad, terms, request, macros), ...description };
}

/** Describes the result of resolving a tag or a bid's markup. */
export function describeResult(
  result: VastResult,
  lastResponse: ExternalResponse | undefined,
): PartialResponse {
  const { trace, noAd } = result;
  const httpStatus = lastResponse?.httpStatus;
  const details = {
    ...(httpStatus !== undefined && { http_status: httpStatus }),
    ...(noAd !== undefined && { vast_error: noAd.code }),
  };
  const describeVerdict = (): string => {
    if (noAd === undefined) return 'offer';
    if (lastResponse?.status === 'failed')
      return lastResponse.kind === 'error'
        ? `source_error: ${lastResponse.reason}`
        : lastResponse.kind;
    return noAd.code === vastErrorCodes.noAds ? 'no_bid' : `refused: ${noAd.reason}`;
  };
  return { verdict: describeVerdict(), details, trace };
}
