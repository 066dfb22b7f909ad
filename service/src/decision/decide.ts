import type { Decision, DecisionRequest, Explanation, Policy } from '@trueward/protocol/wire';
import { checkCaps } from './caps.ts';
import { choose } from './choose.ts';
import type { DailyBudget } from './daily-caps.ts';
import { isKilled } from './kill-switches.ts';
import { applies, blocksCandidate, type PolicyContext } from './policies.ts';
import type { Candidate, PlacementEntry, Snapshot } from './snapshot.ts';

type Reason = NonNullable<Decision['reason']>;

/** Everything that one decision depends on. */
export interface DecisionFacts {
  snapshot: Snapshot;
  entry: PlacementEntry;
  request: DecisionRequest;
  context: PolicyContext;
  /** The user's verified impressions of the placement, in unix milliseconds, as far back as its caps reach. */
  servedAtMs: readonly number[];
  /** By id, for house ads with a daily cap. */
  dailyBudgets: ReadonlyMap<string, Pick<DailyBudget, 'served' | 'allowance'>>;
  nowMs: number;
  /** From 0 to below 1. */
  random: number;
}

export interface Unfilled {
  status: 'no_fill' | 'blocked';
  reason: Reason;
  retryAtMs?: number;
  /** The policy that blocked. */
  rule?: Policy;
  explain: Explanation[];
}

export type Verdict = Filled | Unfilled;

/**
 * Decides, in this order: paused or killed placement, policies on the request, then for each
 * candidate kill switches, policies, schedule and format, approval, daily cap; then the caps of the
 * user, then the choice. When nothing is left, the candidate that came furthest gives the reason.
 */
export function decide(facts: DecisionFacts): Verdict {
  const { snapshot, entry, context, nowMs } = facts;
  const { placement } = entry;
  const unfilled = (rest: Omit<Unfilled, 'explain'>, explain: Explanation[] = []): Unfilled => ({
    ...rest,
    explain,
  });

  if (isKilled(snapshot, { placementId: placement.id, placement: placement.name }, nowMs)) {
    return unfilled({ status: 'no_fill', reason: 'killed' });
  }
  if (placement.status === 'paused') return unfilled({ status: 'no_fill', reason: 'paused' });
  const policies = entry.policies.filter((policy) => applies(policy, context));
  const closing = policies.find(({ block }) => block.everything === true);
  if (closing) return unfilled({ status: 'blocked', reason: closing.kind, rule: closing });

  const { candidates } = entry;
  const eligible = candidates.filter(
    (candidate) => judge(candidate, policies, facts) === undefined,
  );
  // Judged once more: mostly nobody asks, and what was refused need not be kept.
  const explain = () =>
    candidates.map((candidate) =>
      explanation(candidate, judge(candidate, policies, facts)?.verdict ?? 'eligible'),
    );
  if (eligible.length === 0) {
    const refusals = candidates.map((candidate) => judge(candidate, policies, facts));
    const [furthest] = refusals.toSorted((a, b) => (b?.stage ?? 0) - (a?.stage ?? 0));
    return unfilled(furthest?.outcome ?? { status: 'no_fill', reason: 'no_candidates' }, explain());
  }

  const capped = checkCaps(placement, facts.servedAtMs, nowMs);
  if (capped) return unfilled({ status: 'no_fill', ...capped }, explain());
  const candidate = choose(eligible, facts.random);
  if (!candidate) return unfilled({ status: 'no_fill', reason: 'no_candidates' }, explain());
  return new Filled(candidate, explain);
}

/**
 * A class, and no literal with a getter: each of those is of a hidden class of its own, which keeps
 * its request from the collector of garbage until the next full collection.
 */
class Filled {
  readonly status = 'filled';
  readonly candidate: Candidate;
  readonly #explain: () => Explanation[];

  constructor(candidate: Candidate, explain: () => Explanation[]) {
    this.candidate = candidate;
    this.#explain = explain;
  }

  /** Made when somebody reads it: in live nobody does. */
  get explain(): Explanation[] {
    return this.#explain().map((item) => markChoice(item, this.candidate));
  }
}

interface Refusal {
  /** How far the candidate came. */
  stage: number;
  verdict: string;
  outcome: Omit<Unfilled, 'explain'>;
}

const refuse = (stage: number, reason: Reason, verdict: string = reason): Refusal => ({
  stage,
  verdict,
  outcome: { status: 'no_fill', reason },
});

/** Why a candidate cannot be shown, or undefined when it can. */
function judge(
  candidate: Candidate,
  policies: readonly Policy[],
  facts: DecisionFacts,
): Refusal | undefined {
  const { snapshot, request, nowMs, dailyBudgets } = facts;
  const { creative, houseAd } = candidate;
  if (
    isKilled(
      snapshot,
      { advertiserId: creative.advertiser_id, sourceId: creative.source_id },
      nowMs,
    )
  ) {
    return refuse(1, 'killed');
  }
  const rule = policies.find((policy) => blocksCandidate(policy, candidate));
  if (rule) {
    return {
      stage: 2,
      verdict: `${rule.kind}: ${rule.name}`,
      outcome: { status: 'blocked', reason: rule.kind, rule },
    };
  }
  if (candidate.sourcePaused) return refuse(3, 'no_candidates', 'source_paused');
  if (nowMs < candidate.startsAtMs || nowMs >= candidate.endsAtMs)
    return refuse(3, 'no_candidates', 'out_of_schedule');
  if (request.formats && !request.formats.includes(creative.media.format)) {
    return refuse(3, 'no_candidates', 'format_not_accepted');
  }
  if (creative.review.status !== 'approved') return refuse(4, 'not_approved');
  if (houseAd.daily_cap === undefined) return undefined;
  const { served = 0, allowance = 0 } = dailyBudgets.get(houseAd.id) ?? {};
  if (allowance > 0) return undefined;
  // Reservations of ads that nobody sees are released before the day ends.
  const retryAtMs = served >= houseAd.daily_cap ? nextUtcDay(nowMs) : nowMs + reservedRetryMs;
  return {
    ...refuse(5, 'budget'),
    outcome: { status: 'no_fill', reason: 'budget', retryAtMs },
  };
}

const dayMs = 86_400_000;
const reservedRetryMs = 10_000;
const nextUtcDay = (nowMs: number): number => (Math.floor(nowMs / dayMs) + 1) * dayMs;

const explanation = ({ houseAd, creative }: Candidate, verdict: string): Explanation => ({
  house_ad_id: houseAd.id,
  creative_id: creative.id,
  name: houseAd.name,
  verdict,
});

/** An eligible candidate that was not chosen lost by its priority or by the lot. */
function markChoice(item: Explanation, chosen: Candidate): Explanation {
  if (item.house_ad_id === chosen.houseAd.id) return { ...item, verdict: 'chosen' };
  return item.verdict === 'eligible' ? { ...item, verdict: 'priority_or_weight' } : item;
}
