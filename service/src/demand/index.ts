/**
 * Outside demand: ads from VAST tags and OpenRTB bidders. This is the folder's only door: the rest of the service imports
 * nothing else from here.
 */
export { createCheckSource } from './check-source.ts';
export { disclose, truncateIp, type Player } from './disclose.ts';
export type { ObserveCall, RequestOffer } from './exchange/exchange.ts';
export type {
  DeferredBid,
  Exchange,
  OfferRequest,
  SourceResponse,
} from './exchange/offer-request.ts';
export type { IntakeResult } from './intake/external-creative.ts';
export type { Intake } from './intake/intake.ts';
export type { DemandRecord, Notice, Offer } from './offer.ts';
export { lossReasons, type LossReason } from './openrtb/response.ts';
export { startDemand, type Demand } from './start-demand.ts';
export { testAd } from './test-source.ts';
export type { CountEnded } from './tracker/dispatcher.ts';

export {
  buildInsertRequests,
  buildRequestArrays,
  listDueNotices,
  listNewlyDueTrackers,
  readChosenAds,
  requestColumnCount,
  storeRequests,
  type Client,
  type DueTracker,
  type NewRequest,
  type Playback,
} from './trackers.ts';
export type { VastStep } from './vast/resolve.ts';
export { withoutQuery } from './web-url.ts';
