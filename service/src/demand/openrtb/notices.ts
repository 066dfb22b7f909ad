import { encodeComponent, parseWebUrl } from '../web-url.ts';
import { formatCpm } from '../offer.ts';
import { impressionId } from './request.ts';
import { type Bid, type BidIds, type LossReason, lossReasons } from './response.ts';

/** Auction data for the macros in notices. */
export interface Auction {
  requestId: string;
}

type AuctionMacros = Readonly<Record<string, string>>;

/** Returns the URL to request if the bid wins, or undefined if the bid has no win notice. */
export const getWinNoticeUrl = (bid: Bid, auction: Auction): string | undefined =>
  expandUrl(bid.nurl, makeWinMacros(bid, auction));

/**
 * Returns the URL to request when the impression has been verified. {@link expandImpressionTime} expands the remaining
 * macro, the impression time.
 */
export const getBillingNoticeUrl = (bid: Bid, auction: Auction): string | undefined =>
  parseWebUrl(
    bid.burl && expandAuctionMacros(bid.burl, makeWinMacros(bid, auction), impressionTimeMacro),
  );

/** Returns the URL to request if the bid loses. The URL does not disclose the winner's price. */
export const getLossNoticeUrl = (
  bid: BidIds,
  auction: Auction,
  lossReason: LossReason,
): string | undefined =>
  expandUrl(bid.lurl, { ...makeIdMacros(bid, auction), LOSS: String(lossReason) });

/**
 * Returns a bid's markup, or the URL of the markup, or undefined if the markup is unusable. If a bid has neither, the response to its win notice is the markup.
 * In this case, the win notice must not be requested a second time.
 */
export function locateMarkup(
  bid: Bid,
  auction: Auction,
): { markup: string } | { tagUrl: string; isWinNotice: boolean } | undefined {
  const markup = bid.markup?.trim();
  if (markup?.startsWith('<')) return { markup: expandMarkup(markup, bid, auction) };
  const tagUrl = expandUrl(markup, makeWinMacros(bid, auction));
  if (tagUrl !== undefined) return { tagUrl, isWinNotice: false };
  // Markup that can't be used is a bad bid. Its win notice must not be requested, because it doesn't win.
  if (markup !== undefined && markup !== '') return undefined;
  const noticeUrl = getWinNoticeUrl(bid, auction);
  return noticeUrl === undefined ? undefined : { tagUrl: noticeUrl, isWinNotice: true };
}

/** Expands the macros in markup, except for the impression time. */
export const expandMarkup = (markup: string, bid: Bid, auction: Auction): string =>
  expandAuctionMacros(markup, makeWinMacros(bid, auction), impressionTimeMacro);

/**
 * Expands the impression time in a URL that is requested after the impression.
 *
 * @param impressionAtMs Unix milliseconds; undefined if the impression is not verified
 */
export const expandImpressionTime = (url: string, impressionAtMs: number | undefined): string =>
  url.replace(auctionMacro, (macro, name: string, encoding?: string) => {
    if (name.toUpperCase() !== impressionTimeMacro) return macro;
    return encoding === undefined ? String(impressionAtMs ?? '') : '';
  });

const makeIdMacros = (bid: BidIds, { requestId }: Auction): AuctionMacros => ({
  ID: requestId,
  IMP_ID: impressionId,
  BID_ID: bid.bidId ?? '',
  SEAT_ID: bid.seat ?? '',
  AD_ID: bid.adId ?? '',
});

const makeWinMacros = (bid: Bid, auction: Auction): AuctionMacros => ({
  ...makeIdMacros(bid, auction),
  // First-price auction for one impression: the clearing price is the full bid.
  PRICE: formatCpm(bid.priceMicros),
  CURRENCY: bid.currency,
  MBR: '1',
  MULTIPLIER: '1',
  LOSS: String(lossReasons.won),
});

/**
 * Expands the macros, then validates the URL. Allows http URLs, because notices contain no player data and many bidders
 * don't support https.
 */
const expandUrl = (template: string | undefined, macros: AuctionMacros): string | undefined =>
  parseWebUrl(template && expandAuctionMacros(template, macros));

/**
 * Matches macros such as `${AUCTION_PRICE}`. The `$` and the braces may be percent-encoded, and the macro may name an
 * encoding, such as `:B64`. Macros that name an encoding are removed, because no encodings have been agreed on with
 * bidders.
 */
const auctionMacro = /(?:\$|%24)(?:\{|%7B)AUCTION_([A-Z_]{1,20})(:[A-Z\d]{1,10})?(?:\}|%7D)/gi;

/** The macro that can be expanded only after the impression. */
const impressionTimeMacro = 'IMP_TS';

/**
 * Maximum number of macros to expand. Real URLs contain only a few macros. A URL with 14,000 macros could expand to
 * megabytes.
 */
const maxMacros = 1_000;

/**
 * Expands macros. Encodes the values, so that they can't break out of the surrounding URL or XML. Removes macros
 * without a value, as the standard requires, and macros beyond the limit.
 *
 * @param keptName the name of a macro to leave unchanged
 */
function expandAuctionMacros(text: string, macros: AuctionMacros, keptName?: string): string {
  let count = 0;
  return text.replace(auctionMacro, (macro, rawName: string, encoding?: string) => {
    count += 1;
    if (count > maxMacros) return '';
    const name = rawName.toUpperCase();
    if (name === keptName) return macro;
    return encoding === undefined ? encodeComponent(macros[name] ?? '') : '';
  });
}
