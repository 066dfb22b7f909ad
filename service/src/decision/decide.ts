import { idPrefixes } from '@trueward/protocol';
import { describeAdRule } from '@trueward/protocol/describe-ad-rule';
import type { Decision, DecisionRequest, Explanation, Policy } from '@trueward/protocol/wire';
import { type AdFreeFormats, findHold, type RuleEnds } from './ad-rules.ts';
import { checkCaps, type DailyBudget } from './caps.ts';
import type { ExternalSource } from '../resource/resource.ts';
import { isKilled } from './kill-switches.ts';
import {
  blocksSource,
  findBlocker,
  type PolicyContext,
  selectApplicable,
} from './match-policies.ts';
import type { Ad, Candidate, PlacementEntry, Snapshot } from './snapshot.ts';

type Reason = NonNullable<Decision['reason']>;

/** All inputs to a decision. */
export interface DecideInput {
  snapshot: Snapshot;
  entry: PlacementEntry;
  request: DecisionRequest;
  context: PolicyContext;
  /** Times of the player's verified impressions on the placement within the cap window, in Unix milliseconds. */
  servedAtMs: readonly number[];
  /** Times of the player's ads on the placement that an ad SDK in the page has shown, in Unix milliseconds. */
  pageAdsAtMs: readonly number[];
  /** When each ad rule allows the player's next ad. */
  ruleEnds: RuleEnds;
  /** The formats in which the player sees no ads: proven by a user token, never a client's word. */
  adFree: AdFreeFormats;
  /** Budgets for house ads with a daily cap, by house ad id. */
  dailyBudgets: ReadonlyMap<string, Pick<DailyBudget, 'served' | 'allowance'>>;
  nowMs: number;
  /** In [0, 1). */
  random: number;
}

export interface Unfilled {
  status: 'no_fill' | 'blocked';
  reason: Reason;
  retryAtMs?: number;
  /** The policy that blocked the request. */
  rule?: Policy;
  explain: Explanation[];
}

export type Verdict = Filled | Unfilled;

/**
 * Chooses one of the eligible candidates. First checks the placement's kill switch and status, the policies that block
 * the whole request, and the ad rules. Then checks each candidate's kill switches, policies, schedule, format, review and daily
 * cap. Finally checks the player's caps. If no candidate is eligible, returns the reason why the candidate that passed
 * the most checks was rejected.
 */
export function decide(input: DecideInput): Verdict {
  const requestCheck = checkRequest(input);
  if ('status' in requestCheck) return requestCheck;
  const { entry, nowMs } = input;
  const applicable = new Set(requestCheck.policies);
  const { candidates, placement } = entry;
  const eligibleCandidates = candidates.filter(
    (candidate) => findRejection(candidate, applicable, input) === undefined,
  );
  // The rejections are recomputed here rather than stored, because explanations are rarely read.
  const explain = () =>
    candidates.map((candidate) =>
      describeCandidate(
        candidate,
        findRejection(candidate, applicable, input)?.verdict ?? 'eligible',
      ),
    );
  if (eligibleCandidates.length === 0) {
    const rejections = candidates.map((candidate) => findRejection(candidate, applicable, input));
    const [furthestRejection] = rejections.toSorted((a, b) => (b?.stage ?? 0) - (a?.stage ?? 0));
    return makeUnfilled(
      furthestRejection?.outcome ?? { status: 'no_fill', reason: 'no_candidates' },
      explain(),
    );
  }

  const capResult = checkCaps(placement, input.servedAtMs, nowMs);
  if (capResult) return makeUnfilled({ status: 'no_fill', ...capResult }, explain());
  const candidate = choose(eligibleCandidates, input.random);
  if (!candidate) return makeUnfilled({ status: 'no_fill', reason: 'no_candidates' }, explain());
  return new Filled(candidate, explain);
}

const makeUnfilled = (
  outcome: Omit<Unfilled, 'explain'>,
  explain: Explanation[] = [],
): Unfilled => ({
  ...outcome,
  explain,
});

/**
 * Checks the request as a whole. Returns the policies that apply to the request, or a verdict if it can't be filled.
 */
export function checkRequest(input: DecideInput): Unfilled | { policies: readonly Policy[] } {
  const { snapshot, entry, context, nowMs } = input;
  const { placement } = entry;
  if (isKilled(snapshot, { placementId: placement.id, placement: placement.name }, nowMs)) {
    return makeUnfilled({ status: 'no_fill', reason: 'killed' });
  }
  if (placement.status === 'paused') return makeUnfilled({ status: 'no_fill', reason: 'paused' });
  const policies = selectApplicable(entry.policies, context);
  const blockingPolicy = policies.find(({ block }) => block.everything === true);
  if (blockingPolicy)
    return makeUnfilled({ status: 'blocked', reason: blockingPolicy.kind, rule: blockingPolicy });
  return checkAdRules(input) ?? { policies };
}

/** Checks whether the player may see an ad in this format now. */
function checkAdRules(input: DecideInput): Unfilled | undefined {
  const { entry, adFree, ruleEnds, nowMs } = input;
  if (adFree.includes(entry.placement.format))
    return makeUnfilled({ status: 'no_fill', reason: 'ad_free' });
  if (entry.adRules.length === 0) return undefined;
  const hold = findHold(entry.adRules, ruleEnds, nowMs);
  if (!hold) return undefined;
  const { rule, endMs } = hold;
  const reason = 'frequency_capped';
  const explain = [{ ad_rule_id: rule.id, name: describeAdRule(rule), verdict: reason }];
  const outcome = { status: 'no_fill', reason } as const;
  // A session ends when the player has been away, so there is no time to name.
  return makeUnfilled(endMs === Infinity ? outcome : { ...outcome, retryAtMs: endMs }, explain);
}

/** Why an external source or its ad is left out. */
export interface ExternalRejection {
  verdict: string;
  /** What the request ends with if there is no other ad. Absent if it is the same as without the source. */
  outcome?: Omit<Unfilled, 'explain'>;
}

export const killedRejection: ExternalRejection = {
  verdict: 'killed',
  outcome: { status: 'no_fill', reason: 'killed' },
};

export const rejectByPolicy = (rule: Policy): ExternalRejection => ({
  verdict: `${rule.kind}: ${rule.name}`,
  outcome: { status: 'blocked', reason: rule.kind, rule },
});

/** Returns why an external source must not be called, or undefined if it may be called. */
export function rejectSource(
  { id, child_directed: allowsChildren }: ExternalSource,
  { snapshot, entry, request, context, nowMs }: DecideInput,
): ExternalRejection | undefined {
  if (isKilled(snapshot, { sourceId: id }, nowMs)) return killedRejection;
  // A placement's format may have been changed.
  if (entry.placement.format === 'banner') return { verdict: 'refused: not for banner placements' };
  const rule = selectApplicable(entry.policies, context).find((policy) => blocksSource(policy, id));
  if (rule) return rejectByPolicy(rule);
  if (context.childDirected && !allowsChildren)
    return { verdict: 'refused: not for child-directed requests' };
  if (request.formats && !request.formats.includes('video'))
    return { verdict: 'format_not_accepted' };
  return undefined;
}

/** Returns why an external ad's creative must not be shown, or undefined if it may be shown. */
export function rejectAd(ad: Ad, input: DecideInput): ExternalRejection | undefined {
  const { snapshot, entry, context, nowMs } = input;
  const { creative } = ad;
  if (isKilled(snapshot, { advertiserId: creative.advertiser_id }, nowMs)) return killedRejection;
  const applicable = new Set(selectApplicable(entry.policies, context));
  const rule = findBlocker(entry.policies, applicable, ad);
  if (rule) return rejectByPolicy(rule);
  return creative.review.status === 'approved' ? undefined : { verdict: 'not_approved' };
}

/**
 * This is a class because V8 creates a separate hidden class for every object literal that has a getter. Such a hidden
 * class keeps the request in memory until the next full garbage collection.
 */
class Filled {
  readonly status = 'filled';
  readonly candidate: Candidate;
  readonly #explain: () => Explanation[];

  constructor(candidate: Candidate, explain: () => Explanation[]) {
    this.candidate = candidate;
    this.#explain = explain;
  }

  /** Computed only on access, because nothing reads it in the live environment. */
  get explain(): Explanation[] {
    return this.#explain().map((item) => markChoice(item, this.candidate));
  }

  /** Returns the same choice with a different explanation. */
  withExplanation(explain: Explanation[]): Filled {
    return new Filled(this.candidate, () => explain);
  }
}

interface Rejection {
  /** The position of the failed check. The higher the position, the more checks the candidate passed. */
  stage: number;
  verdict: string;
  outcome: Omit<Unfilled, 'explain'>;
}

const createRejection = (stage: number, reason: Reason, verdict: string = reason): Rejection => ({
  stage,
  verdict,
  outcome: { status: 'no_fill', reason },
});

/** Returns why a candidate must not be shown, or undefined if the candidate is eligible. */
function findRejection(
  candidate: Candidate,
  applicable: ReadonlySet<Policy>,
  input: DecideInput,
): Rejection | undefined {
  const { snapshot, entry, request, nowMs, dailyBudgets } = input;
  const { creative, houseAd } = candidate;
  if (
    isKilled(
      snapshot,
      { advertiserId: creative.advertiser_id, sourceId: creative.source_id },
      nowMs,
    )
  ) {
    return createRejection(1, 'killed');
  }
  const rule = findBlocker(entry.policies, applicable, candidate);
  if (rule) {
    return {
      stage: 2,
      verdict: `${rule.kind}: ${rule.name}`,
      outcome: { status: 'blocked', reason: rule.kind, rule },
    };
  }
  if (candidate.sourcePaused) return createRejection(3, 'no_candidates', 'source_paused');
  if (nowMs < candidate.startsAtMs || nowMs >= candidate.endsAtMs)
    return createRejection(3, 'no_candidates', 'out_of_schedule');
  if (request.formats && !request.formats.includes(creative.media.format)) {
    return createRejection(3, 'no_candidates', 'format_not_accepted');
  }
  if (creative.review.status !== 'approved') return createRejection(4, 'not_approved');
  if (houseAd.daily_cap === undefined) return undefined;
  const { served = 0, allowance = 0 } = dailyBudgets.get(houseAd.id) ?? {};
  if (allowance > 0) return undefined;
  // If the cap is exhausted only because of reservations, some of them may be released within seconds.
  const retryAtMs = served >= houseAd.daily_cap ? nextUtcDay(nowMs) : nowMs + reservedRetryMs;
  const outcome = { status: 'no_fill', reason: 'budget', retryAtMs } as const;
  return { stage: 5, verdict: 'budget', outcome };
}

const dayMs = 86_400_000;
const reservedRetryMs = 10_000;
const nextUtcDay = (nowMs: number): number => (Math.floor(nowMs / dayMs) + 1) * dayMs;

const describeCandidate = ({ houseAd, creative }: Candidate, verdict: string): Explanation => ({
  house_ad_id: houseAd.id,
  creative_id: creative.id,
  name: houseAd.name,
  verdict,
});

/**
 * Marks the chosen candidate, and the eligible candidates that lost because of their priority or weight. Uses
 * `Object.assign`, because on Node 20, adding a property after a spread takes 1 µs, ten times as long.
 */
function markChoice(item: Explanation, chosen: Candidate): Explanation {
  if (item.house_ad_id === chosen.houseAd.id) return Object.assign({}, item, { verdict: 'chosen' });
  return item.verdict === 'eligible'
    ? Object.assign({}, item, { verdict: 'priority_or_weight' })
    : item;
}

/**
 * Picks a weighted random candidate from the highest priority tier.
 *
 * @param candidates sorted by priority, highest first
 * @param random in [0, 1)
 */
function choose(candidates: readonly Candidate[], random: number): Candidate | undefined {
  const bestPriority = candidates[0]?.houseAd.priority;
  const tiedCandidates = candidates.filter(({ houseAd }) => houseAd.priority === bestPriority);
  const totalWeight = tiedCandidates.reduce((sum, { houseAd }) => sum + houseAd.weight, 0);
  let remaining = random * totalWeight;
  return (
    tiedCandidates.find(({ houseAd }) => (remaining -= houseAd.weight) < 0) ?? tiedCandidates.at(-1)
  );
}

/** The rule in the event that a simulated block sends. No policy has this id. */
const simulatedPolicy = {
  id: `${idPrefixes.policy}_${'0'.repeat(26)}`,
  kind: 'policy',
  name: 'Simulated',
} as Policy;

/**
 * Returns the verdict that a sandbox request simulates. Returns undefined for other `simulate` values, which affect the
 * response (`slow`, `error`) or the reward.
 */
export function simulateVerdict(simulate: DecisionRequest['simulate']): Unfilled | undefined {
  switch (simulate) {
    case 'no_fill':
      return { status: 'no_fill', reason: 'no_candidates', explain: [] };
    case 'blocked':
      return { status: 'blocked', reason: 'policy', rule: simulatedPolicy, explain: [] };
    case 'killed':
      return { status: 'no_fill', reason: 'killed', explain: [] };
    default:
      return undefined;
  }
}
