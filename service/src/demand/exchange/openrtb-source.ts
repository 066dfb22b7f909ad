import type { Notice } from '../offer.ts';
import {
  getBillingNoticeUrl,
  getLossNoticeUrl,
  locateMarkup,
  expandMarkup,
  getWinNoticeUrl,
} from '../openrtb/notices.ts';
import { buildBidRequest, type JsonObject } from '../openrtb/request.ts';
import {
  type Bid,
  type BidIds,
  lossReasons,
  type LossReason,
  readBidResponse,
} from '../openrtb/response.ts';
import {
  type SourceCall,
  type PartialResponse,
  makeMacros,
  maxDurationMs,
  minDurationMs,
  makeVastRules,
} from './offer-request.ts';
import { describeResult, buildErrorNotices, findVastAd, makeOffer } from './vast-source.ts';

/**
 * Maximum number of bids whose markup is parsed. Parsing starts with the best bid and stops at the first bid that
 * contains an ad.
 */
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
  const bidResponse = readBidResponse(response.text, rules);
  if (bidResponse.status === 'no_bid') return { verdict: 'no_bid', details };
  if (bidResponse.status === 'malformed')
    return { verdict: `source_error: ${bidResponse.reason}`, details };
  const auction = { requestId: request.transactionId };
  const makeLossNotices = (bid: BidIds, lossReason: LossReason): Notice[] => {
    const url = getLossNoticeUrl(bid, auction, lossReason);
    return url === undefined ? [] : [{ kind: 'loss', url }];
  };
  const notices = bidResponse.rejectedBids.flatMap((bid) => makeLossNotices(bid, bid.lossReason));
  const [bestBid, ...otherBids] = bidResponse.bids;
  if (!bestBid) {
    const isBelowFloor = bidResponse.rejectedBids.every(
      ({ lossReason }) => lossReason === lossReasons.belowFloor,
    );
    const [first] = bidResponse.rejectedBids;
    return {
      verdict: isBelowFloor ? 'below_floor' : `refused: ${first?.reason ?? ''}`,
      details,
      notices,
    };
  }
  return readBids(call, [bestBid, ...otherBids.slice(0, maxBidsRead - 1)], {
    details,
    notices: [
      ...notices,
      ...otherBids
        .slice(maxBidsRead - 1)
        .flatMap((bid) => makeLossNotices(bid, lossReasons.outbid)),
    ],
    makeLossNotices,
  });
}

interface AuctionState {
  details: PartialResponse['details'] & object;
  /** Notices that have become due so far. */
  notices: Notice[];
  makeLossNotices(bid: BidIds, lossReason: LossReason): Notice[];
}

/** Parses the bids' markup, starting with the best bid, until one contains an ad. */
async function readBids(
  call: SourceCall,
  [bid, ...others]: readonly [Bid, ...Bid[]],
  { details, notices, makeLossNotices }: AuctionState,
): Promise<PartialResponse> {
  const auction = { requestId: call.request.transactionId };
  const outbidNotices = others.flatMap((other) => makeLossNotices(other, lossReasons.outbid));
  const markup = locateMarkup(bid, auction);
  if (!markup) {
    const verdict = 'refused: The bid has no usable markup.';
    return readNextBid(
      call,
      others,
      {
        details,
        notices: [...notices, ...makeLossNotices(bid, lossReasons.noMarkup)],
        makeLossNotices,
      },
      verdict,
    );
  }
  const read = (laterCall: SourceCall, pastNotices: Notice[]): Promise<PartialResponse> =>
    readMarkup(laterCall, [bid, ...others], markup, {
      details,
      notices: pastNotices,
      makeLossNotices,
    });
  if ('markup' in markup || !markup.isWinNotice) return read(call, notices);
  return {
    verdict: 'offer',
    details,
    notices,
    onLoss: (reason) => [...makeLossNotices(bid, reason), ...outbidNotices],
    deferred: {
      priceMicros: bid.priceMicros,
      creativeKey: bid.creativeId,
      fetchWith: (laterCall) => read(laterCall, []),
    },
  };
}

/** Fetches and parses a bid's markup. If it contains no ad, tries the next bid. */
async function readMarkup(
  call: SourceCall,
  [bid, ...others]: readonly [Bid, ...Bid[]],
  markup: NonNullable<ReturnType<typeof locateMarkup>>,
  { details, notices, makeLossNotices }: AuctionState,
): Promise<PartialResponse> {
  const { deps, source, request, send } = call;
  const auction = { requestId: request.transactionId };
  const outbidNotices = others.flatMap((other) => makeLossNotices(other, lossReasons.outbid));
  const macros = makeMacros(request);
  const { result, lastResponse } = await findVastAd(deps, {
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
  const description = describeResult(result, lastResponse);
  const allNotices = [...notices, ...buildErrorNotices(result.errors, macros, deps)];
  if (!result.ad) {
    const nextState = {
      details,
      notices: [...allNotices, ...makeLossNotices(bid, lossReasons.invalid)],
      makeLossNotices,
    };
    return readNextBid(call, others, nextState, description.verdict);
  }
  const isWinNoticeSent = 'tagUrl' in markup && markup.isWinNotice;
  const winNoticeUrl = isWinNoticeSent ? undefined : getWinNoticeUrl(bid, auction);
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
    ...(bid.expiresInS !== undefined && { expiresAtMs: nowMs + bid.expiresInS * 1_000 }),
  };
  return {
    verdict: 'offer',
    details,
    trace: result.trace,
    offer: {
      ...makeOffer(result.ad, terms, request, macros),
      // Known before the win notice was requested, so that a creative that can't be shown never wins again.
      ...(isWinNoticeSent && { creativeKey: bid.creativeId }),
    },
    notices: [...allNotices, ...outbidNotices],
    onWin: winNoticeUrl === undefined ? [] : [{ kind: 'win', url: winNoticeUrl }],
    onLoss: (reason) => makeLossNotices(bid, reason),
  };
}

/** Tries the next bid. If there are no more bids, returns `verdict`, the reason why the last bid failed. */
async function readNextBid(
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
    // OpenRTB counts in whole seconds.
    minDurationS: Math.ceil(minDurationMs / 1_000),
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
