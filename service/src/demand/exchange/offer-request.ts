import { videoDurationMs } from '@trueward/protocol';
import type { Explanation } from '@trueward/protocol/wire';
import type { DisclosedPlayer } from '../disclose.ts';
import type { Notice, Offer } from '../offer.ts';
import type { BlockLists } from '../openrtb/request.ts';
import type { LossReason } from '../openrtb/response.ts';
import { makeRequestMacros } from '../vast/macros.ts';
import type { VastResult, VastRules } from '../vast/resolve.ts';
import { maxMediaBytes } from '../../media/ingest-media.ts';
import type { Clock } from '../../platform/time.ts';
import type { ExternalSource } from '../../resource/resource.ts';
import type { ExternalResponse } from './external-client.ts';

/** A request for an offer. The requests for one decision differ only in the player's id and `blocked`. */
export interface OfferRequest {
  accountId: string;
  /** A UUID, shared by all of the decision's sources. */
  transactionId: string;
  placement: string;
  sandbox: boolean;
  /** Whether loopback URLs are allowed, for sandbox sources in development mode. */
  loopback: boolean;
  player: DisclosedPlayer;
  /** The origin of the game's page. */
  origin?: string;
  /** CSS pixels. */
  viewport: { width: number; height: number };
  /** Earliest playback position at which the ad may become skippable. */
  minSkipMs: number;
  blocked: BlockLists;
  /** Maximum time until the ad is shown. */
  showWithinS: number;
  /** Called after each HTTP request. */
  onExchange?(exchange: Exchange): void;
}

/** An HTTP request to a source and its response. */
export interface Exchange {
  method: 'GET' | 'POST';
  url: string;
  /** Without the source's own headers, which may be secret. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  ms: number;
  response: ExternalResponse;
}

/** A source's response to an offer request. */
export interface SourceResponse {
  offer?: Offer;
  /** The reason why there is no offer, or `offer` if there is one. */
  verdict: string;
  /** Details for the decision's explanation. */
  details: Pick<Explanation, 'ms' | 'http_status' | 'vast_error'>;
  /** Notices that are due regardless of whether the offer is chosen. */
  notices: Notice[];
  /** Notices that are due if the offer is chosen. */
  onWin: Notice[];
  /** Returns the notices that are due if the offer is not chosen. */
  onLoss(reason: LossReason): Notice[];
  /** Steps taken to resolve the ad, shown in trials. */
  trace: VastResult['trace'];
  /** A bid whose ad must still be fetched. Present instead of `offer`. */
  deferred?: DeferredBid;
}

/**
 * A bid whose ad comes in the response to its win notice. The notice says that the bid has won, so it is requested only
 * once no other offer is better.
 */
export interface DeferredBid {
  priceMicros: number;
  /** The key of its creative, which is the bid’s own id for it. */
  creativeKey: string;
  /** Requests the win notice. Never rejects. */
  fetch(timeoutMs: number): Promise<SourceResponse>;
}

/** Dependencies of source requests. */
export interface SourceDeps {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random(): number;
  /** Called and awaited between slices of a long document, so that other work can run. */
  pause(): Promise<void>;
}

/** One call to a source. */
export interface SourceCall {
  deps: SourceDeps;
  source: ExternalSource;
  request: OfferRequest;
  timeoutMs: number;
  send(url: string, body?: string): Promise<ExternalResponse>;
}

/** A response in which fields with default values may be absent. */
export type PartialResponse = Partial<Omit<SourceResponse, 'deferred'>> &
  Pick<SourceResponse, 'verdict'> & {
    deferred?: Omit<DeferredBid, 'fetch'> & {
      /** Requests the win notice with a call that has a time limit of its own. */
      fetchWith(call: SourceCall): Promise<PartialResponse>;
    };
  };

/** Minimum and maximum ad duration. */
export const { minimum: minDurationMs, maximum: maxDurationMs } = videoDurationMs;
/** Maximum preferred bitrate, in kilobits per second. Ad servers typically use this bitrate for 1080p. */
const maxBitrate = 6_000;
export const serverUserAgent = 'Trueward/1';

export const makeVastRules = ({ viewport, minSkipMs, loopback }: OfferRequest): VastRules => ({
  httpTags: loopback,
  httpMedia: loopback,
  httpTrackers: true,
  // Most screens have two device pixels per CSS pixel.
  media: {
    width: viewport.width * 2,
    height: viewport.height * 2,
    maxBitrate,
    // A larger file can't be copied.
    maxBytes: maxMediaBytes,
  },
  minDurationMs,
  maxDurationMs,
  minSkipMs,
});

export const makeMacros = ({ player, origin, transactionId, viewport, blocked }: OfferRequest) =>
  makeRequestMacros({
    player,
    serverUserAgent,
    transactionId,
    playerSize: viewport,
    minDurationS: minDurationMs / 1_000,
    maxDurationS: maxDurationMs / 1_000,
    blockedCategories: blocked.categories,
    ...(origin === undefined ? {} : { domain: new URL(origin).hostname, pageUrl: `${origin}/` }),
  });
