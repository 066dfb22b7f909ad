import { encodeComponent, parseWebUrl } from '../web-url.ts';
import { formatCpm } from './price.ts';
import { impressionId } from './request.ts';
import { type Bid, type BidIds, type LossReason, lossReasons } from './response.ts';

/** What notices say about the auction. */
export interface Auction {
  /** The id of the request. */
  requestId: string;
}

type AuctionMacros = Readonly<Record<string, string>>;

/** The URL that is requested when the bid is chosen; undefined if the bidder wants none. */
export const winNotice = (bid: Bid, auction: Auction): string | undefined =>
  notice(bid.nurl, winMacros(bid, auction));

/**
 * The URL that is requested when the impression was verified: at least once. {@link expandImpressionTime} completes
 * it.
 */
export const billingNotice = (bid: Bid, auction: Auction): string | undefined =>
  parseWebUrl(bid.burl && expandAuctionMacros(bid.burl, winMacros(bid, auction), impressionTime));

/** The URL that is requested when the bid has lost. The winner's price stays secret. */
export const lossNotice = (bid: BidIds, auction: Auction, loss: LossReason): string | undefined =>
  notice(bid.lurl, { ...idMacros(bid, auction), LOSS: String(loss) });

/**
 * Where the VAST of a winning bid is: in the bid, at a URL that stands in its place, or in the response to
 * the win notice, which is then requested for it and not again.
 */
export function markupSource(
  bid: Bid,
  auction: Auction,
): { markup: string } | { tagUrl: string; isWinNotice: boolean } | undefined {
  const given = bid.markup?.trim();
  if (given?.startsWith('<')) return { markup: expandMarkup(given, bid, auction) };
  const tagUrl = notice(given, winMacros(bid, auction));
  if (tagUrl !== undefined) return { tagUrl, isWinNotice: false };
  const noticeUrl = winNotice(bid, auction);
  return noticeUrl === undefined ? undefined : { tagUrl: noticeUrl, isWinNotice: true };
}

/** Replaces the macros in markup, except for the time of the impression. */
export const expandMarkup = (markup: string, bid: Bid, auction: Auction): string =>
  expandAuctionMacros(markup, winMacros(bid, auction), impressionTime);

/**
 * Replaces the time of the impression in a URL that is requested after it.
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
  // First price: the whole bid, for one impression.
  PRICE: formatCpm(bid.priceMicros),
  CURRENCY: bid.currency,
  MBR: '1',
  MULTIPLIER: '1',
  LOSS: String(lossReasons.won),
});

/**
 * Only after the macros are in place is a notice a URL. http is accepted: notices carry nothing of the
 * player, and many bidders have no other.
 */
const notice = (template: string | undefined, macros: AuctionMacros): string | undefined =>
  parseWebUrl(template && expandAuctionMacros(template, macros));

/**
 * `${AUCTION_PRICE}`, also percent-encoded, in whole or as the path of a URL is, and with an encoding such as `:B64`,
 * of which none is agreed.
 */
const auctionMacro = /(?:\$|%24)(?:\{|%7B)AUCTION_([A-Z_]{1,20})(:[A-Z\d]{1,10})?(?:\}|%7D)/gi;

/** Known only when the ad has been shown. */
const impressionTime = 'IMP_TS';

/** An ad has a few in each URL. A value of 500 characters in place of each of 14,000 would make megabytes. */
const maxMacros = 1_000;

/**
 * What is not known is removed, as the standard says, and so are macros beyond the limit. Values cannot leave their
 * place in a URL or in XML.
 */
function expandAuctionMacros(text: string, macros: AuctionMacros, kept?: string): string {
  let count = 0;
  return text.replace(auctionMacro, (macro, written: string, encoding?: string) => {
    count += 1;
    if (count > maxMacros) return '';
    const name = written.toUpperCase();
    if (name === kept) return macro;
    return encoding === undefined ? encodeComponent(macros[name] ?? '') : '';
  });
}
