import type { Creative, DecisionCreative } from '@trueward/protocol/wire';
import type { Notice, Offer } from '../demand/offer.ts';
import type { VastStep } from '../demand/vast/resolve.ts';
import type { Exchange, SourceResponse } from '../exchange/offer-request.ts';
import type { ExternalSource } from '../resource/external-source.ts';
import type { Scope } from '../store/database.ts';
import {
  type ClientInfo,
  evaluateWithSources,
  type EvaluateWithSourcesDeps,
} from './decision-service.ts';
import { describeOffer } from './describe-decision.ts';

/** A trial request to one external source. It is identical to the request that a decision would send. */
interface Trial {
  source: ExternalSource;
  placement: string;
  consent: 'granted' | 'denied' | 'unknown';
  client: Pick<ClientInfo, 'ip' | 'userAgent' | 'origin'>;
  /** Whether to import an unknown creative and add it to the review queue. */
  shouldSubmit: boolean;
}

export interface TrialResult {
  /** The source's verdict in the decision's explanation, such as `chosen` or `creative_pending`. */
  verdict: string;
  /** The source's latency; absent if no request was sent. */
  ms?: number;
  vastError?: number;
  /** All HTTP requests, in order. */
  exchanges: Exchange[];
  /** Steps of resolving the VAST tag or markup. */
  steps: VastStep[];
  offer?: Offer;
  /** Notices that a decision would send now. */
  notices: Notice[];
  /** The imported creative in the form that players receive; absent if it has not been imported yet. */
  creative?: DecisionCreative;
  review?: Creative['review']['status'];
}

/**
 * Runs a trial. Trials are not stored or counted, and send no notices. Resolves to undefined if the placement does not
 * exist.
 */
export type TrySource = (scope: Scope, trial: Trial) => Promise<TrialResult | undefined>;

export function createTrialRunner(deps: EvaluateWithSourcesDeps): TrySource {
  return async (scope, { source, placement, consent, client, shouldSubmit }) => {
    const snapshot = deps.configuration.snapshot(scope);
    const stored = snapshot.placements.get(placement);
    if (!stored) return undefined;
    const exchanges: Exchange[] = [];
    let response: SourceResponse | undefined;
    const externalDeps: typeof deps.externalDeps = {
      ...deps.externalDeps,
      async requestOffer(requestedSource, request, timeoutMs) {
        const onExchange = (exchange: Exchange): void => void exchanges.push(exchange);
        return (response = await deps.externalDeps.requestOffer(
          requestedSource,
          { ...request, onExchange },
          timeoutMs,
        ));
      },
      submit: (...submission) => {
        if (shouldSubmit) deps.externalDeps.submit(...submission);
      },
      noteOffer: () => undefined,
    };
    const { verdict, demand } = await evaluateWithSources(
      { ...deps, externalDeps },
      {
        scope,
        // House ads are left out. Otherwise, a house ad with a higher priority would win before the source is called.
        entry: { ...stored, candidates: [], sources: [source] },
        request: { placement, consent: { status: consent } },
        client,
        nowMs: deps.clock.nowMs(),
      },
    );
    const offer = response?.offer;
    const explanation = verdict.explain.find(({ source_id }) => source_id === source.id);
    const ad = offer && snapshot.findExternalCreative(source.id, offer.creativeKey);
    return {
      verdict: explanation?.verdict ?? ('reason' in verdict ? verdict.reason : 'chosen'),
      exchanges,
      steps: response?.trace ?? [],
      notices: demand?.notices ?? [],
      ...(explanation?.ms !== undefined && { ms: explanation.ms }),
      ...(explanation?.vast_error !== undefined && { vastError: explanation.vast_error }),
      ...(offer && { offer }),
      ...(ad && { creative: describeOffer({ ...ad, offer }), review: ad.creative.review.status }),
    };
  };
}
