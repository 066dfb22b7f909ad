import type { Explanation } from '@trueward/protocol/wire';
import type { DisclosedPlayer } from '../demand/disclose.ts';
import type { Notice, Offer } from '../demand/offer.ts';
import type { BlockLists } from '../demand/openrtb/request.ts';
import type { LossReason } from '../demand/openrtb/response.ts';
import { requestMacros } from '../demand/vast/macros.ts';
import type { VastResult, VastRules } from '../demand/vast/resolve.ts';
import type { Clock } from '../platform/clock.ts';
import type { OutsideSource } from '../resource/outside-source.ts';
import type { OutsideResponse } from './outside-client.ts';

/** A request for an offer, the same for all sources of a decision. */
export interface OfferRequest {
  accountId: string;
  /** A UUID, the same for all sources of the decision. */
  transactionId: string;
  placement: string;
  sandbox: boolean;
  /** In development mode, the sandbox may request loopback addresses. */
  loopback: boolean;
  player: DisclosedPlayer;
  /** The origin of the game's page. */
  origin?: string;
  /** CSS pixels. */
  viewport: { width: number; height: number };
  /** The earliest moment at which the ad may be closed. */
  minSkipMs: number;
  blocked: BlockLists;
  /** How long the ad may wait before it is shown. */
  showWithinS: number;
  /** Called after each HTTP request. */
  onExchange?(exchange: Exchange): void;
}

/** An HTTP request to a source, and its response. */
export interface Exchange {
  method: 'GET' | 'POST';
  url: string;
  /** Without the source's own headers, which may be secret. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  ms: number;
  response: OutsideResponse;
}

/** What a source responded. */
export interface SourceResponse {
  offer?: Offer;
  /** Why there is no offer; `offer` if there is one. */
  verdict: string;
  /** For the explanation of the decision. */
  facts: Pick<Explanation, 'ms' | 'http_status' | 'vast_error'>;
  /** Due whatever becomes of the offer. */
  notices: Notice[];
  /** Due if the offer is chosen, or if it is not. */
  onWin: Notice[];
  onLoss(reason: LossReason): Notice[];
  /** What happened on the way, for people who try a source. */
  trace: VastResult['trace'];
}

/** The dependencies of requests to sources. */
export interface SourceDeps {
  clock: Clock;
  /** From 0 to below 1. */
  random(): number;
  /** Lets other work run between the slices of a long document. */
  pause(): Promise<void>;
}

/** One call of a source. */
export interface SourceCall {
  deps: SourceDeps;
  source: OutsideSource;
  request: OfferRequest;
  timeoutMs: number;
  send(url: string, body?: string): Promise<OutsideResponse>;
}

/** The response without what is common to all sources. */
export type PartialResponse = Partial<SourceResponse> & Pick<SourceResponse, 'verdict'>;

/** The range of durations in the schemas. */
export const [minDurationMs, maxDurationMs] = [1_000, 120_000];
/** Kilobits per second: 1080p, as ad servers encode it. */
const maxBitrate = 6_000;
const maxMediaBytes = 20_000_000;
export const serverUserAgent = 'Trueward/1';

export const rulesOf = ({ viewport, minSkipMs, loopback }: OfferRequest): VastRules => ({
  httpTags: loopback,
  httpMedia: loopback,
  httpTrackers: true,
  // Most screens have two device pixels to a CSS pixel.
  media: {
    width: viewport.width * 2,
    height: viewport.height * 2,
    maxBitrate,
    maxBytes: maxMediaBytes,
  },
  minDurationMs,
  maxDurationMs,
  minSkipMs,
});

export const macrosOf = ({ player, origin, transactionId, viewport, blocked }: OfferRequest) =>
  requestMacros({
    player,
    serverUserAgent,
    transactionId,
    playerSize: viewport,
    minDurationS: minDurationMs / 1_000,
    maxDurationS: maxDurationMs / 1_000,
    blockedCategories: blocked.categories,
    ...(origin === undefined ? {} : { domain: new URL(origin).hostname, pageUrl: `${origin}/` }),
  });
