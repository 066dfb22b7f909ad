import type { Creative, DecisionCreative } from '@trueward/protocol/wire';
import type { Notice, Offer } from '../demand/offer.ts';
import type { VastStep } from '../demand/vast/resolve.ts';
import type { Exchange, SourceResponse } from '../exchange/offer-request.ts';
import type { OutsideSource } from '../resource/outside-source.ts';
import type { Scope } from '../store/database.ts';
import {
  type ClientInfo,
  evaluateWithSources,
  type EvaluateWithSourcesDeps,
} from './decision-service.ts';
import { describeOffer } from './describe-decision.ts';

/** A request to one outside source, as a decision for the placement would make it. */
interface Trial {
  source: OutsideSource;
  placement: string;
  consent: 'granted' | 'denied' | 'unknown';
  client: Pick<ClientInfo, 'ip' | 'userAgent' | 'origin'>;
  /** Whether to copy an unknown creative and to add it to the review queue. */
  submits: boolean;
}

export interface TrialResult {
  /** As in the explanation of a decision. `offer`: without the review, the ad would have been shown. */
  verdict: string;
  /** The latency of the source; absent if it got no request. */
  ms?: number;
  vastError?: number;
  /** All HTTP requests, in order. */
  exchanges: Exchange[];
  /** What was found on the way to the ad. */
  steps: VastStep[];
  offer?: Offer;
  /** Notices that a decision would send now. */
  notices: Notice[];
  /** The copy of the ad's creative, as players would get it; absent if there is none yet. */
  creative?: DecisionCreative;
  review?: Creative['review']['status'];
}

/** Returns undefined when the placement does not exist. Stores and counts nothing, and sends no notices or trackers. */
export type TrySource = (scope: Scope, trial: Trial) => Promise<TrialResult | undefined>;

export function createTrySource(deps: EvaluateWithSourcesDeps): TrySource {
  return async (scope, { source, placement, consent, client, submits }) => {
    const snapshot = deps.configuration.snapshot(scope);
    const stored = snapshot.placements.get(placement);
    if (!stored) return undefined;
    const exchanges: Exchange[] = [];
    let response: SourceResponse | undefined;
    const outside: typeof deps.outside = {
      ...deps.outside,
      async requestOffer(of, request, timeoutMs) {
        const onExchange = (exchange: Exchange): void => void exchanges.push(exchange);
        return (response = await deps.outside.requestOffer(
          of,
          { ...request, onExchange },
          timeoutMs,
        ));
      },
      submit: (...offered) => {
        if (submits) deps.outside.submit(...offered);
      },
      noteOffer: () => undefined,
    };
    const { verdict, demand } = await evaluateWithSources(
      { ...deps, outside },
      {
        scope,
        // A house ad of better priority would win before the source gets a request.
        entry: { ...stored, candidates: [], sources: [source] },
        request: { placement, consent: { status: consent } },
        client,
        nowMs: deps.clock.nowMs(),
      },
    );
    const offer = response?.offer;
    const explained = verdict.explain.find(({ source_id }) => source_id === source.id);
    const ad = offer && snapshot.findOutsideCreative(source.id, offer.creativeKey);
    return {
      verdict: explained?.verdict ?? ('reason' in verdict ? verdict.reason : 'offer'),
      exchanges,
      steps: response?.trace ?? [],
      notices: demand?.notices ?? [],
      ...(explained?.ms !== undefined && { ms: explained.ms }),
      ...(explained?.vast_error !== undefined && { vastError: explained.vast_error }),
      ...(offer && { offer }),
      ...(ad && { creative: describeOffer({ ...ad, offer }), review: ad.creative.review.status }),
    };
  };
}
