import { encodeComponent, parseWebUrl } from '../web-url.ts';
import { formatCpm } from './price.ts';
import { impressionId } from './request.ts';
import { type Bid, type BidIds, type LossReason, lossReasons } from './response.ts';

/** Auction data that notices report. */
export interface Auction {
  requestId: string;
}

type AuctionMacros = Readonly<Record<string, string>>;

/** Returns the URL to request when the bid wins; undefined if the bidder declared none. */
export const getWinNoticeUrl = (bid: Bid, auction: Auction): string | undefined =>
  expandUrl(bid.nurl, winMacros(bid, auction));

/**
 * Returns the URL to request at least once when the impression is verified. {@link expandImpressionTime} expands its
 * last macro.
 */
export const getBillingNoticeUrl = (bid: Bid, auction: Auction): string | undefined =>
  parseWebUrl(bid.burl && expandAuctionMacros(bid.burl, winMacros(bid, auction), impressionTime));

/** Returns the URL to request when the bid has lost. The URL does not disclose the winner's price. */
export const getLossNoticeUrl = (
  bid: BidIds,
  auction: Auction,
  lossReason: LossReason,
): string | undefined =>
  expandUrl(bid.lurl, { ...idMacros(bid, auction), LOSS: String(lossReason) });

/**
 * Returns where to get the VAST of a winning bid: from the bid itself, from a URL in its place, or from the response to
 * the win notice, which then must not be requested a second time.
 */
export function markupSource(
  bid: Bid,
  auction: Auction,
): { markup: string } | { tagUrl: string; isWinNotice: boolean } | undefined {
  const markup = bid.markup?.trim();
  if (markup?.startsWith('<')) return { markup: expandMarkup(markup, bid, auction) };
  const tagUrl = expandUrl(markup, winMacros(bid, auction));
  if (tagUrl !== undefined) return { tagUrl, isWinNotice: false };
  const noticeUrl = getWinNoticeUrl(bid, auction);
  return noticeUrl === undefined ? undefined : { tagUrl: noticeUrl, isWinNotice: true };
}

/** Expands the macros in markup, except for the impression time. */
export const expandMarkup = (markup: string, bid: Bid, auction: Auction): string =>
  expandAuctionMacros(markup, winMacros(bid, auction), impressionTime);

/**
 * Expands the impression time in a URL that is requested after the impression.
 *
 * @param impressionAtMs Unix milliseconds; undefined if the impression is not verified
 */
export const expandImpressionTime = (url: string, impressionAtMs: number | undefined): string =>
  url.replace(auctionMacro, (macro, name: string, encoding?: string) => {
    if (name.toUpperCase() !== impressionTime) return macro;
    return encoding === undefined ? String(impressionAtMs ?? '') : '';
  });

const idMacros = (bid: BidIds, { requestId }: Auction): AuctionMacros => ({
  ID: requestId,
  IMP_ID: impressionId,
  BID_ID: bid.bidId ?? '',
  SEAT_ID: bid.seat ?? '',
  AD_ID: bid.adId ?? '',
});

const winMacros = (bid: Bid, auction: Auction): AuctionMacros => ({
  ...idMacros(bid, auction),
  // First-price auction for one impression: the price is the full bid.
  PRICE: formatCpm(bid.priceMicros),
  CURRENCY: bid.currency,
  MBR: '1',
  MULTIPLIER: '1',
  LOSS: String(lossReasons.won),
});

/**
 * Expands the macros before checking the URL. http is allowed, because notices contain no player data and many bidders
 * support nothing else.
 */
const expandUrl = (template: string | undefined, macros: AuctionMacros): string | undefined =>
  parseWebUrl(template && expandAuctionMacros(template, macros));

/**
 * Matches `${AUCTION_PRICE}`, also with percent-encoded `$` or braces, and with an encoding such as `:B64`. Encoded
 * macros are removed, because we have agreed on an encoding with no bidder.
 */
const auctionMacro = /(?:\$|%24)(?:\{|%7B)AUCTION_([A-Z_]{1,20})(:[A-Z\d]{1,10})?(?:\}|%7D)/gi;

/** The macro that can be expanded only after the impression. */
const impressionTime = 'IMP_TS';

/**
 * Maximum number of macros to expand. Real URLs contain only a few; 14,000 values of 500 characters would take up
 * megabytes.
 */
const maxMacros = 1_000;

/**
 * Removes macros without a value, as the standard requires, and macros beyond the limit. Values are encoded, so that
 * they can't break out of a URL or XML.
 *
 * @param keptName macro to leave unexpanded
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
