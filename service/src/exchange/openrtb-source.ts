import type { Notice } from '../demand/offer.ts';
import {
  getBillingNoticeUrl,
  getLossNoticeUrl,
  markupSource,
  expandMarkup,
  getWinNoticeUrl,
} from '../demand/openrtb/notices.ts';
import { buildBidRequest, type JsonObject } from '../demand/openrtb/request.ts';
import {
  type Bid,
  type BidIds,
  lossReasons,
  type LossReason,
  readBidResponse,
} from '../demand/openrtb/response.ts';
import {
  type SourceCall,
  type PartialResponse,
  makeMacros,
  maxDurationMs,
  minDurationMs,
  makeVastRules,
} from './offer-request.ts';
import { describeResult, buildErrorNotices, findVastAd, makeOffer } from './vast-source.ts';

/** Markup is parsed for at most this many bids, best bid first, until one of them contains an ad. */
const maxBidsRead = 3;

/** Requests an offer from a bidder. */
export async function callBidder(call: SourceCall, endpointUrl: string): Promise<PartialResponse> {
  const { source, request, send } = call;
  const body = JSON.stringify(buildBidRequest(makeBidRequestInput(call)));
  const response = await send(endpointUrl, body);
  if (response.status === 'failed') {
    const details = response.httpStatus === undefined ? {} : { http_status: response.httpStatus };
    return {
      verdict: response.kind === 'error' ? `source_error: ${response.reason}` : response.kind,
      details,
    };
  }
  const details = { http_status: response.httpStatus };
  const rules = {
    requestId: request.transactionId,
    currency: source.currency,
    floorMicros: source.floor_micros,
    blocked: request.blocked,
  };
  const read = readBidResponse(response.text, rules);
  if (read.status === 'no_bid') return { verdict: 'no_bid', details };
  if (read.status === 'malformed') return { verdict: `source_error: ${read.reason}`, details };
  const auction = { requestId: request.transactionId };
  const lossNotices = (bid: BidIds, lossReason: LossReason): Notice[] => {
    const url = getLossNoticeUrl(bid, auction, lossReason);
    return url === undefined ? [] : [{ kind: 'loss', url }];
  };
  const notices = read.rejected.flatMap((bid) => lossNotices(bid, bid.lossReason));
  const [chosen, ...others] = read.bids;
  if (!chosen) {
    const isBelowFloor = read.rejected.every(
      ({ lossReason }) => lossReason === lossReasons.belowFloor,
    );
    const [first] = read.rejected;
    return {
      verdict: isBelowFloor ? 'below_floor' : `refused: ${first?.reason ?? ''}`,
      details,
      notices,
    };
  }
  return readBids(call, [chosen, ...others.slice(0, maxBidsRead - 1)], {
    details,
    notices: [
      ...notices,
      ...others.slice(maxBidsRead - 1).flatMap((bid) => lossNotices(bid, lossReasons.outbid)),
    ],
    lossNotices,
  });
}

interface AuctionState {
  details: PartialResponse['details'] & object;
  /** Notices that are due so far. */
  notices: Notice[];
  lossNotices(bid: BidIds, lossReason: LossReason): Notice[];
}

/** Parses the bids' markup, best bid first, until one contains an ad. */
async function readBids(
  call: SourceCall,
  [bid, ...others]: readonly [Bid, ...Bid[]],
  { details, notices, lossNotices }: AuctionState,
): Promise<PartialResponse> {
  const { deps, source, request, send } = call;
  const auction = { requestId: request.transactionId };
  const outbid = others.flatMap((other) => lossNotices(other, lossReasons.outbid));
  const markup = markupSource(bid, auction);
  if (!markup) {
    const verdict = 'refused: The bid has no markup.';
    return next(
      call,
      others,
      {
        details,
        notices: [...notices, ...lossNotices(bid, lossReasons.noMarkup)],
        lossNotices,
      },
      verdict,
    );
  }
  const macros = makeMacros(request);
  const { result, last } = await findVastAd(deps, {
    start: 'markup' in markup ? { markup: markup.markup } : { tagUrl: markup.tagUrl },
    macros,
    rules: makeVastRules(request),
    async fetchDocument(url) {
      const document = await send(url);
      if (document.status === 'failed' || 'markup' in markup || url !== markup.tagUrl)
        return document;
      return { ...document, text: expandMarkup(document.text, bid, auction) };
    },
  });
  const description = describeResult(result, last);
  const allNotices = [...notices, ...buildErrorNotices(result.errors, macros, deps)];
  if (!result.ad) {
    const failed = {
      details,
      notices: [...allNotices, ...lossNotices(bid, lossReasons.invalid)],
      lossNotices,
    };
    return next(call, others, failed, description.verdict);
  }
  const isWinNoticeSent = 'tagUrl' in markup && markup.isWinNotice;
  const win = isWinNoticeSent ? undefined : getWinNoticeUrl(bid, auction);
  const nowMs = deps.clock.nowMs();
  const burl = getBillingNoticeUrl(bid, auction);
  const [advertiserDomain] = bid.advertiserDomains;
  const terms = {
    sourceId: source.id,
    priceMicros: bid.priceMicros,
    currency: bid.currency,
    creativeId: bid.creativeId,
    categories: bid.categories,
    ...(advertiserDomain !== undefined && { advertiserDomain }),
    ...(burl !== undefined && { burl }),
    ...(bid.expiresS !== undefined && { expiresAtMs: nowMs + bid.expiresS * 1_000 }),
  };
  return {
    verdict: 'offer',
    details,
    trace: result.trace,
    offer: makeOffer(result.ad, terms, request),
    notices: [...allNotices, ...outbid],
    onWin: win === undefined ? [] : [{ kind: 'win', url: win }],
    onLoss: (reason) => lossNotices(bid, reason),
  };
}

/** Tries the next bid. If there are no more bids, returns `verdict`, which is the reason the last bid failed. */
async function next(
  call: SourceCall,
  [bid, ...others]: readonly Bid[],
  state: AuctionState,
  verdict: string,
): Promise<PartialResponse> {
  if (!bid) return { verdict, details: state.details, notices: state.notices };
  return readBids(call, [bid, ...others], state);
}

function makeBidRequestInput({ source, request, timeoutMs }: SourceCall) {
  const { origin } = request;
  const { publisher_id: publisherId, supply_chain: supplyChain = [] } = source;
  return {
    id: request.transactionId,
    version: source.ortb_version,
    isTest: request.sandbox,
    timeoutMs,
    placement: request.placement,
    floorMicros: source.floor_micros,
    currency: source.currency,
    showWithinS: request.showWithinS,
    displayManager: { name: 'Trueward', version: '1' },
    playerSize: request.viewport,
    minDurationS: minDurationMs / 1_000,
    maxDurationS: maxDurationMs / 1_000,
    site: {
      ...(origin === undefined ? {} : { domain: new URL(origin).hostname, page: `${origin}/` }),
      ...(publisherId !== undefined && { publisherId }),
    },
    player: request.player,
    transactionId: request.transactionId,
    supplyChain,
    blocked: request.blocked,
    ...(source.ext === undefined ? {} : { ext: source.ext as JsonObject }),
  };
}
