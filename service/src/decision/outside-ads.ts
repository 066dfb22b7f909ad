import type { Explanation } from '@trueward/protocol/wire';
import type { DemandRecord, Notice, Offer } from '../demand/offer.ts';
import { type LossReason, lossReasons } from '../demand/openrtb/response.ts';
import { withoutQuery } from '../demand/web-url.ts';
import type { RequestOffer } from '../exchange/exchange.ts';
import type { OfferRequest, SourceResponse } from '../exchange/offer-request.ts';
import type { Clock } from '../platform/clock.ts';
import { latencyClass, latencyMetric } from '../report/source-health.ts';
import type { OutsideSource } from '../resource/outside-source.ts';
import type { Scope } from '../store/database.ts';
import { checkCaps } from './caps.ts';
import {
  checkRequest,
  type DecisionFacts,
  decide,
  rejectAd,
  sourceRejection,
  type Unfilled,
  type Verdict,
} from './decide.ts';
import type { SourceCount } from './record-decisions.ts';
import type { Ad } from './snapshot.ts';

/** An ad that an outside source offers for this decision. */
export interface OutsideCandidate extends Ad {
  source: OutsideSource;
  offer: Offer;
  /** Whether the player has not consented to tracking. */
  limitAdTracking: boolean;
}

export interface OutsideDeps {
  requestOffer: RequestOffer;
  /** Takes in a creative that is not known yet; it can be shown once it is approved. */
  submit(scope: Scope, source: OutsideSource, offer: Offer): void;
  /** Records that a source still offers a creative. */
  noteOffer(accountId: string, creativeId: string): void;
  clock: Pick<Clock, 'monotonicMs'>;
  /** How long the sources of a decision may take together, in milliseconds. */
  budgetMs: number;
}

/** An outside ad was chosen. */
export interface OutsideFilled {
  status: 'filled';
  candidate: OutsideCandidate;
  explain: Explanation[];
}

export interface OutsideDecision {
  verdict: Verdict | OutsideFilled;
  demand?: DemandRecord;
  sourceCounts?: readonly SourceCount[];
}

/** Builds the request for one source: each source knows the player by another id. */
export type DescribeRequest = (
  source: OutsideSource,
  blocked: OfferRequest['blocked'],
) => OfferRequest;

/**
 * Decides for a placement with outside sources. The sources of one priority are called at the same time, the best
 * priority first, and the best price that may be shown wins. A priority without an ad falls through to the next one.
 * A house ad beats sources of worse priority, which then get no request, and loses to those of its own.
 */
export async function decideWithSources(
  deps: OutsideDeps,
  scope: Scope,
  facts: DecisionFacts,
  describe: DescribeRequest,
): Promise<OutsideDecision> {
  const { entry, nowMs } = facts;
  const checked = checkRequest(facts);
  if ('status' in checked) return { verdict: checked };
  const house = decide(facts);
  // A blocked request makes no outbound call.
  if (checkCaps(entry.placement, facts.servedAtMs, nowMs)) return { verdict: house };
  const worst = house.status === 'filled' ? house.candidate.houseAd.priority : Infinity;
  const endMs = deps.clock.monotonicMs() + deps.budgetMs;
  const auction = new Auction(deps, scope, facts);
  for (const priority of new Set(entry.sources.map((source) => source.priority))) {
    if (priority > worst) break;
    const tier = entry.sources.filter((source) => source.priority === priority);
    const leftMs = endMs - deps.clock.monotonicMs();
    const candidate = await auction.run(tier, leftMs, (source) =>
      describe(source, blockedBy(checked.policies)),
    );
    if (candidate) return auction.fill(candidate, house);
  }
  return auction.fillWithHouseAd(house);
}

/** A shorter timeout is not worth a request. */
const minRequestMs = 50;
/** An ad that expires sooner would expire before most players see it. */
const minLifetimeMs = 30_000;

/** What the sources of one decision have responded so far. */
class Auction {
  readonly #deps: OutsideDeps;
  readonly #scope: Scope;
  readonly #facts: DecisionFacts;
  readonly #explain: Explanation[] = [];
  readonly #notices: Notice[] = [];
  readonly #counts: SourceCount[] = [];

  constructor(deps: OutsideDeps, scope: Scope, facts: DecisionFacts) {
    [this.#deps, this.#scope, this.#facts] = [deps, scope, facts];
  }

  /** Requests offers from the sources of one priority, and returns the best ad that may be shown. */
  async run(
    tier: readonly OutsideSource[],
    leftMs: number,
    describe: (source: OutsideSource) => OfferRequest,
  ): Promise<OutsideCandidate | undefined> {
    const responses = await Promise.all(
      tier.map(async (source) => {
        const rejection = sourceRejection(source, this.#facts);
        const timeoutMs = Math.min(source.timeout_ms, leftMs);
        if (rejection !== undefined || timeoutMs < minRequestMs) {
          this.#note(source, rejection ?? 'timeout');
          return [];
        }
        const request = describe(source);
        const response = await this.#deps.requestOffer(source, request, timeoutMs);
        this.#count(source, response);
        this.#notices.push(...response.notices);
        const { limitAdTracking } = request.player;
        if (response.offer) return [{ source, response, offer: response.offer, limitAdTracking }];
        this.#note(source, response.verdict, response);
        return [];
      }),
    );
    // Ties are broken at random, so that no source wins all of them.
    const shift = Math.floor(this.#facts.random * responses.length);
    const offers = [...responses.slice(shift), ...responses.slice(0, shift)].flat();
    let chosen: OutsideCandidate | undefined;
    for (const { source, response, offer, limitAdTracking } of offers.toSorted(byPrice)) {
      const judged = this.#judge({ source, offer, limitAdTracking });
      const lost: Lost | undefined = 'verdict' in judged ? judged : chosen && outbid;
      if (lost) this.#notices.push(...response.onLoss(lost.loss));
      else this.#notices.push(...response.onWin);
      this.#note(source, lost?.verdict ?? 'chosen', response, judged);
      if (!lost && 'offer' in judged) {
        chosen = judged;
        this.#counts.push({ sourceId: source.id, metric: 'source_wins' });
      }
    }
    return chosen;
  }

  /** Returns the chosen ad with what its trackers need. */
  fill(candidate: OutsideCandidate, house: Verdict): OutsideDecision {
    const { source, offer, limitAdTracking } = candidate;
    const { nowMs } = this.#facts;
    const lost = house.explain.map((item) =>
      item.verdict === 'chosen' ? { ...item, verdict: 'priority_or_weight' } : item,
    );
    return {
      verdict: { status: 'filled', candidate, explain: [...this.#explain, ...lost] },
      demand: {
        chosen: {
          sourceId: source.id,
          priceMicros: offer.priceMicros,
          currency: offer.currency,
          trackers: offer.trackers,
          impressionOn: source.impression_on,
          headerProfile: source.header_profile,
          trackUntilMs: nowMs + source.tracking_window_s * 1_000,
          limitAdTracking,
        },
        notices: this.#notices,
      },
      sourceCounts: this.#counts,
    };
  }

  /** Returns the verdict of the house ads, because no source has an ad. */
  fillWithHouseAd(house: Verdict): OutsideDecision {
    const rest = {
      sourceCounts: this.#counts,
      ...(this.#notices.length > 0 && { demand: { notices: this.#notices } }),
    };
    const explain = [...this.#explain, ...house.explain];
    if (house.status === 'filled') return { verdict: house.explainedBy(explain), ...rest };
    const isPending = explain.some(({ verdict }) => verdict === 'creative_pending');
    const reason = isPending && house.reason === 'no_candidates' ? 'not_approved' : house.reason;
    const verdict: Unfilled = { ...house, reason, explain };
    return { verdict, ...rest };
  }

  #judge(offered: Omit<OutsideCandidate, keyof Ad>): OutsideCandidate | Lost {
    const { snapshot, nowMs } = this.#facts;
    const { source, offer } = offered;
    const ad = snapshot.findOutsideCreative(source.id, offer.creativeKey);
    if (ad) this.#deps.noteOffer(this.#scope.accountId, ad.creative.id);
    if (!ad || !hasIcon(ad, offer)) {
      this.#deps.submit(this.#scope, source, offer);
      return { verdict: 'creative_pending', loss: lossReasons.pendingReview };
    }
    // A source could put another advertiser's name to an approved creative, and pass the blocks of its own.
    if (offer.advertiserDomain !== undefined && offer.advertiserDomain !== ad.advertiserDomain)
      return {
        verdict: 'refused: The creative was reviewed for another advertiser.',
        loss: lossReasons.invalidAdvertiser,
      };
    if (offer.expiresAtMs !== undefined && offer.expiresAtMs < nowMs + minLifetimeMs)
      return { verdict: 'refused: The ad expires too soon.', loss: lossReasons.filtered };
    const verdict = rejectAd(ad, this.#facts);
    if (verdict === undefined) return { ...ad, ...offered };
    const loss = verdict === 'not_approved' ? lossReasons.disapproved : lossReasons.filtered;
    return { verdict, loss };
  }

  #count({ id: sourceId }: OutsideSource, { offer, verdict, facts: { ms } }: SourceResponse): void {
    // While a circuit is open, nothing is sent.
    if (verdict !== 'circuit_open') {
      this.#counts.push({ sourceId, metric: 'source_requests' });
      if (ms !== undefined)
        this.#counts.push({ sourceId, metric: latencyMetric, reason: latencyClass(ms) });
    }
    if (offer) this.#counts.push({ sourceId, metric: 'source_bids' });
    if (verdict === 'timeout') this.#counts.push({ sourceId, metric: 'source_timeouts' });
    if (verdict.startsWith('source_error') || verdict === 'circuit_open')
      this.#counts.push({ sourceId, metric: 'source_errors' });
  }

  #note(
    { id, name }: OutsideSource,
    verdict: string,
    response?: SourceResponse,
    judged?: OutsideCandidate | Lost,
  ): void {
    const creative = judged && 'creative' in judged ? { creative_id: judged.creative.id } : {};
    this.#explain.push({ source_id: id, name, ...creative, verdict, ...response?.facts });
  }
}

/** An ad is never shown without its icon, of which the service has a copy. */
const hasIcon = ({ creative: { icons = [] } }: Ad, { icon }: Offer): boolean =>
  icon === undefined || icons.some(({ origin_url: origin }) => origin === withoutQuery(icon.url));

/** Why an offer was not chosen. */
interface Lost {
  verdict: string;
  loss: LossReason;
}

const outbid: Lost = { verdict: 'outbid', loss: lossReasons.outbid };

const byPrice = (a: { offer: Offer }, b: { offer: Offer }): number =>
  b.offer.priceMicros - a.offer.priceMicros;

const blockedBy = (policies: DecisionFacts['entry']['policies']): OfferRequest['blocked'] => ({
  advertisers: [...new Set(policies.flatMap(({ block }) => block.domains ?? []))],
  categories: [...new Set(policies.flatMap(({ block }) => block.categories ?? []))],
  seats: [],
  attributes: [],
});
