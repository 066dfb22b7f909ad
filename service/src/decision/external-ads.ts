import type { Explanation } from '@trueward/protocol/wire';
import {
  lossReasons,
  withoutQuery,
  type DeferredBid,
  type DemandRecord,
  type LossReason,
  type Notice,
  type Offer,
  type OfferRequest,
  type RequestOffer,
  type SourceResponse,
} from '../demand/index.ts';
import { listCategories, normalizeCategory } from '../platform/names.ts';
import type { Clock } from '../platform/time.ts';
import { getLatencyBucket, latencyMetric } from '../history/source-health.ts';
import type { ExternalSource, PageSource } from '../resource/resource.ts';
import type { Scope } from '../store/database.ts';
import { buildBlockLists } from './block-lists.ts';
import { checkCaps } from './caps.ts';
import {
  checkRequest,
  type DecideInput,
  decide,
  type ExternalRejection,
  rejectAd,
  rejectSource,
  type Unfilled,
  type Verdict,
} from './decide.ts';
import type { SourceCount } from './record-decisions.ts';
import { type PageCandidate, rejectPageSource } from './page-ads.ts';
import type { Ad } from './snapshot.ts';

/** An ad that an external source offers for this decision. */
export interface ExternalCandidate extends Ad {
  source: ExternalSource;
  offer: Offer;
  /** Whether ad tracking must be limited for this player. */
  limitAdTracking: boolean;
}

export interface ExternalDeps {
  requestOffer: RequestOffer;
  /** Imports an unknown creative. It can be shown once it has been approved. */
  submit(scope: Scope, source: ExternalSource, offer: Offer): void;
  /** Records that a source still offers a creative. */
  recordOffer(accountId: string, creativeId: string): void;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Maximum total time for a decision's sources, in milliseconds. */
  budgetMs: number;
}

/** The verdict if an ad was chosen that is not a house ad. */
export interface ExternalFilled {
  status: 'filled';
  candidate: ExternalCandidate | PageCandidate;
  explain: Explanation[];
}

export interface ExternalDecision {
  verdict: Verdict | ExternalFilled;
  demand?: DemandRecord;
  sourceCounts?: readonly SourceCount[];
}

/** Builds the request for one source. Each source gets a different id for the player. */
export type BuildOfferRequest = (
  source: ExternalSource,
  blocked: OfferRequest['blocked'],
) => OfferRequest;

/**
 * Makes a decision for a placement with external sources. Calls the sources in the highest priority tier concurrently,
 * and chooses the eligible ad with the highest price. If none of these sources has an eligible ad, calls the sources in
 * an ad SDK in the page takes its turn, and then the next tier. Sources take precedence over a house ad with the same
 * priority. Sources with a lower priority than the house ad are not called.
 */
export async function decideWithSources(
  deps: ExternalDeps,
  scope: Scope,
  input: DecideInput,
  buildOfferRequest: BuildOfferRequest,
): Promise<ExternalDecision> {
  const { entry, nowMs } = input;
  const requestCheck = checkRequest(input);
  if ('status' in requestCheck) return { verdict: requestCheck };
  const houseVerdict = decide(input);
  // A player who has reached a cap can't be shown an ad, so no source is called.
  if (checkCaps(entry.placement, input.servedAtMs, nowMs)) return { verdict: houseVerdict };
  const houseAdPriority =
    houseVerdict.status === 'filled' ? houseVerdict.candidate.houseAd.priority : Infinity;
  const deadlineAtMs = deps.clock.monotonicMs() + deps.budgetMs;
  const auction = new Auction(deps, scope, input);
  const blockLists = buildBlockLists(requestCheck.policies);
  const priorities = [...entry.sources, ...entry.pageSources].map((source) => source.priority);
  for (const priority of new Set(priorities.toSorted((a, b) => a - b))) {
    if (priority > houseAdPriority) break;
    const tier = entry.sources.filter((source) => source.priority === priority);
    const remainingMs = deadlineAtMs - deps.clock.monotonicMs();
    const candidate = await auction.run(tier, remainingMs, (source) =>
      buildOfferRequest(source, blockLists),
    );
    if (candidate) return auction.fill(candidate, houseVerdict);
    const pageSource = auction.choosePage(
      entry.pageSources.filter((source) => source.priority === priority),
    );
    if (pageSource) return auction.fillInPage(pageSource, houseVerdict);
  }
  return auction.fillWithHouseAd(houseVerdict);
}

/** Sources are not called if less than this much of the time budget is left. */
const minRequestMs = 50;
/** An ad that expires sooner than this is rejected, because most players would not see it in time. */
const minLifetimeMs = 30_000;

/** Collects the responses from one decision's sources. */
class Auction {
  readonly #deps: ExternalDeps;
  readonly #scope: Scope;
  readonly #input: DecideInput;
  readonly #explain: Explanation[] = [];
  readonly #notices: Notice[] = [];
  readonly #counts: SourceCount[] = [];
  /** What the request ends with if there is no ad, because a policy or a kill switch has removed an offer. */
  #outcome: ExternalRejection['outcome'];

  constructor(deps: ExternalDeps, scope: Scope, input: DecideInput) {
    [this.#deps, this.#scope, this.#input] = [deps, scope, input];
  }

  /** Calls the sources in one priority tier, and returns the eligible ad with the highest price. */
  async run(
    tier: readonly ExternalSource[],
    remainingMs: number,
    buildOfferRequest: (source: ExternalSource) => OfferRequest,
  ): Promise<ExternalCandidate | undefined> {
    const deadlineAtMs = this.#deps.clock.monotonicMs() + remainingMs;
    const responses = await Promise.all(
      tier.map(async (source) => {
        const rejection = rejectSource(source, this.#input);
        const timeoutMs = Math.min(source.timeout_ms, remainingMs);
        if (rejection !== undefined || timeoutMs < minRequestMs) {
          this.#remember(rejection);
          this.#note(source, rejection?.verdict ?? 'timeout');
          return [];
        }
        const request = buildOfferRequest(source);
        const response = await this.#deps.requestOffer(source, request, timeoutMs);
        this.#count(source, response);
        this.#notices.push(...response.notices);
        const { limitAdTracking } = request.player;
        if (response.offer || response.deferred) return [{ source, response, limitAdTracking }];
        this.#note(source, response.verdict, response);
        return [];
      }),
    );
    // Ties are broken at random, so that no source always wins them.
    const startIndex = Math.floor(this.#input.random * responses.length);
    const bids = [...responses.slice(startIndex), ...responses.slice(0, startIndex)].flat();
    let chosenCandidate: ExternalCandidate | undefined;
    for (;;) {
      const [bid] = bids.sort(comparePrices).splice(0, 1);
      if (!bid) return chosenCandidate;
      const { source, response, limitAdTracking } = bid;
      const { offer, deferred } = response;
      if (deferred) {
        const loss = chosenCandidate ? outbidLoss : this.#judgeUnseen(source, deferred);
        const leftMs = Math.min(source.timeout_ms, deadlineAtMs - this.#deps.clock.monotonicMs());
        if (loss || leftMs < minRequestMs) {
          this.#notices.push(...response.onLoss((loss ?? lateLoss).reason));
          this.#note(source, (loss ?? lateLoss).verdict, response);
          continue;
        }
        const fetched = await deferred.fetch(leftMs);
        this.#notices.push(...fetched.notices);
        if (fetched.offer || fetched.deferred) bids.push({ ...bid, response: fetched });
        else this.#note(source, fetched.verdict, fetched);
        continue;
      }
      if (!offer) continue;
      const result = this.#judge({ source, offer, limitAdTracking });
      const loss: Loss | undefined = 'verdict' in result ? result : chosenCandidate && outbidLoss;
      if (loss) this.#notices.push(...response.onLoss(loss.reason));
      else this.#notices.push(...response.onWin);
      this.#note(source, loss?.verdict ?? 'chosen', response, result);
      if (!loss && 'offer' in result) {
        chosenCandidate = result;
        this.#counts.push({ sourceId: source.id, metric: 'source_wins' });
      }
    }
  }

  /** Returns the first of one tier's page sources that may show its ad. Whether it has one, only the page will know. */
  choosePage(tier: readonly PageSource[]): PageSource | undefined {
    return tier.find((source) => {
      const rejection = rejectPageSource(source, this.#input);
      this.#remember(rejection);
      this.#note(source, rejection?.verdict ?? 'chosen');
      if (rejection?.verdict !== 'not_ready_in_page')
        this.#counts.push({ sourceId: source.id, metric: 'source_requests' });
      if (!rejection) this.#counts.push({ sourceId: source.id, metric: 'source_wins' });
      return !rejection;
    });
  }

  /** Returns the decision for an ad that an ad SDK in the page chooses. */
  fillInPage(pageSource: PageSource, houseVerdict: Verdict): ExternalDecision {
    const explain = this.#explainWith(houseVerdict);
    return { verdict: { status: 'filled', candidate: { pageSource }, explain }, ...this.#record() };
  }

  /** Returns what is stored if no source's own ad was chosen. */
  #record(): Omit<ExternalDecision, 'verdict'> {
    return {
      sourceCounts: this.#counts,
      ...(this.#notices.length > 0 && { demand: { notices: this.#notices } }),
    };
  }

  #explainWith(houseVerdict: Verdict): Explanation[] {
    const houseExplain = houseVerdict.explain.map((item) =>
      item.verdict === 'chosen' ? { ...item, verdict: 'priority_or_weight' } : item,
    );
    return [...this.#explain, ...houseExplain];
  }

  /** Returns the decision for the chosen external ad. */
  fill(candidate: ExternalCandidate, houseVerdict: Verdict): ExternalDecision {
    const { source, offer, limitAdTracking } = candidate;
    const { nowMs } = this.#input;
    return {
      verdict: { status: 'filled', candidate, explain: this.#explainWith(houseVerdict) },
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

  /** Falls back to the house ads' verdict. Called if no source has an eligible ad. */
  fillWithHouseAd(houseVerdict: Verdict): ExternalDecision {
    const record = this.#record();
    const explain = [...this.#explain, ...houseVerdict.explain];
    if (houseVerdict.status === 'filled')
      return { verdict: houseVerdict.withExplanation(explain), ...record };
    const isPending = explain.some(({ verdict }) => verdict === 'creative_pending');
    const isOpen = houseVerdict.reason === 'no_candidates';
    const pending = isOpen && isPending ? ({ reason: 'not_approved' } as const) : undefined;
    const outcome = pending ?? (isOpen ? this.#outcome : undefined);
    const verdict: Unfilled = { ...houseVerdict, ...outcome, explain };
    return { verdict, ...record };
  }

  /** A policy's block counts more than a kill switch, which an operator knows of. */
  #remember(rejection: ExternalRejection | undefined): void {
    if (rejection?.outcome && this.#outcome?.rule === undefined) this.#outcome = rejection.outcome;
  }

  #judge(offeredAd: Omit<ExternalCandidate, keyof Ad>): ExternalCandidate | Loss {
    const { snapshot, nowMs } = this.#input;
    const { source, offer } = offeredAd;
    const ad = snapshot.findExternalCreative(source.id, offer.creativeKey);
    if (ad) this.#deps.recordOffer(this.#scope.accountId, ad.creative.id);
    if (!ad || !hasIcon(ad, offer)) {
      this.#deps.submit(this.#scope, source, offer);
      return { verdict: 'creative_pending', reason: lossReasons.pendingReview };
    }
    // Otherwise, a source could evade a block by offering an approved creative under a different advertiser's name.
    if (offer.advertiserDomain !== undefined && offer.advertiserDomain !== ad.advertiserDomain)
      return {
        verdict: 'refused: The creative was reviewed for a different advertiser.',
        reason: lossReasons.invalidAdvertiser,
      };
    if (offer.expiresAtMs !== undefined && offer.expiresAtMs < nowMs + minLifetimeMs)
      return { verdict: 'refused: The ad expires too soon.', reason: lossReasons.filtered };
    const rejection = rejectAd(withOfferedCategories(ad, offer), this.#input);
    return rejection === undefined ? { ...ad, ...offeredAd } : this.#toLoss(rejection);
  }

  /** Judges a bid by what is known before its ad is fetched. */
  #judgeUnseen({ id }: ExternalSource, { creativeKey }: DeferredBid): Loss | undefined {
    const ad = this.#input.snapshot.findExternalCreative(id, creativeKey);
    const rejection = ad && rejectAd(ad, this.#input);
    return rejection && this.#toLoss(rejection);
  }

  #toLoss(rejection: ExternalRejection): Loss {
    this.#remember(rejection);
    const { verdict } = rejection;
    const reason = verdict === 'not_approved' ? lossReasons.disapproved : lossReasons.filtered;
    return { verdict, reason };
  }

  #count(
    { id: sourceId }: ExternalSource,
    { offer, deferred, verdict, details: { ms } }: SourceResponse,
  ): void {
    // No request is sent while the source's circuit breaker is open.
    if (verdict !== 'circuit_open') {
      this.#counts.push({ sourceId, metric: 'source_requests' });
      if (ms !== undefined)
        this.#counts.push({ sourceId, metric: latencyMetric, reason: getLatencyBucket(ms) });
    }
    if (offer || deferred) this.#counts.push({ sourceId, metric: 'source_bids' });
    if (verdict === 'timeout') this.#counts.push({ sourceId, metric: 'source_timeouts' });
    if (verdict.startsWith('source_error') || verdict === 'circuit_open')
      this.#counts.push({ sourceId, metric: 'source_errors' });
  }

  #note(
    { id, name }: Pick<ExternalSource, 'id' | 'name'>,
    verdict: string,
    response?: SourceResponse,
    result?: ExternalCandidate | Loss,
  ): void {
    const creative = result && 'creative' in result ? { creative_id: result.creative.id } : {};
    this.#explain.push({ source_id: id, name, ...creative, verdict, ...response?.details });
  }
}

/** Whether the service has a copy of the offer's icon. An ad must not be shown without its icon. */
const hasIcon = ({ creative: { icons = [] } }: Ad, { icon }: Offer): boolean =>
  icon === undefined || icons.some(({ origin_url: origin }) => origin === withoutQuery(icon.url));

/** An ad may be offered in more categories than when its creative was imported. Policies block it by all of them. */
function withOfferedCategories(ad: Ad, { categories: offered }: Offer): Ad {
  const added = offered
    .flatMap((code) => listCategories(normalizeCategory(code) ?? code))
    .filter((category) => !ad.categories.has(category));
  return added.length === 0 ? ad : { ...ad, categories: new Set([...ad.categories, ...added]) };
}

/** Why an offer was not chosen. */
interface Loss {
  verdict: string;
  reason: LossReason;
}

const outbidLoss: Loss = { verdict: 'outbid', reason: lossReasons.outbid };

/** There is no time left to fetch the ad. */
const lateLoss: Loss = { verdict: 'timeout', reason: lossReasons.filtered };

const readPrice = ({ offer, deferred }: SourceResponse): number =>
  (offer ?? deferred)?.priceMicros ?? 0;
const comparePrices = (a: { response: SourceResponse }, b: { response: SourceResponse }): number =>
  readPrice(b.response) - readPrice(a.response);
