import { capWindowMs, exceedsCaps, type Limits, pageRewardLimits } from '../decision/caps.ts';
import { isAdKilled } from '../decision/kill-switches.ts';
import type { Snapshot } from '../decision/snapshot.ts';
import { checkPageReward } from './check-page-reward.ts';
import { checkReward, type RewardVerdict } from './check-reward.ts';
import { checkImpression, checkTraffic, findPageAd } from './check-events.ts';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import type { Transition } from './transitions.ts';
import type { ViewerHistory } from './viewer-history.ts';
import { findFirst } from './watch-time.ts';

interface JudgeInput {
  snapshot: Snapshot;
  nowMs: number;
  /** Recorded events by decision. */
  recordedEvents: ReadonlyMap<string, RecordedEvent[]>;
  history: ViewerHistory;
  /** Reward verdicts for decisions whose completion event was rejected, by decision. */
  rejectedCompletions: ReadonlyMap<string, RewardVerdict>;
}

/**
 * For decisions with new evidence, decides whether the impression counts and the reward is earned. Returns the state
 * changes. Decisions are judged sequentially, because each verdict becomes part of the history for the next decision.
 */
export function judgeDecisions(
  input: JudgeInput,
  decisions: readonly DecisionState[],
): Transition[] {
  return decisions.flatMap((decision) => {
    const transition = judge(input, decision);
    if (!hasChanged(transition)) return [];
    input.history.add(transition);
    return [transition];
  });
}

const hasChanged = ({ before, after }: Transition): boolean =>
  after.invalidReason !== before.invalidReason ||
  after.servedAtMs !== before.servedAtMs ||
  after.rewardState !== before.rewardState;

function judge(input: JudgeInput, before: DecisionState): Transition {
  const evidence = readEvidence(input, before);
  const { events } = evidence;
  const invalidReason = before.invalidReason ?? checkTraffic(before.requiredMs, events) ?? null;
  const isInvalid = invalidReason !== null;
  const servedAtMs =
    before.servedAtMs ?? (isInvalid ? null : (findServed(before, evidence) ?? null));
  // On Node 20, `Object.assign` is ten times as fast as object spread.
  const decisionWithImpression = Object.assign({}, before, { invalidReason, servedAtMs });
  const verdict = judgeReward(input, decisionWithImpression, evidence);
  // If a reward is still pending but for a different reason, its state has not changed.
  if (!verdict || verdict.state === before.rewardState)
    return { before, after: decisionWithImpression };
  const after = Object.assign({}, decisionWithImpression, {
    rewardState: verdict.state,
    rewardReason: verdict.reason ?? null,
    // This process's clock may lag behind the clock of the process that issued the decision.
    settledAtMs: verdict.state === 'pending' ? null : Math.max(input.nowMs, before.issuedAtMs),
  });
  return { before, after, ...(verdict.adView ? { adView: verdict.adView } : {}) };
}

/** What is known of an ad. */
interface Evidence {
  /** What the player's device has reported. Its times have the device's offset, which a callback's time has not. */
  events: readonly RecordedEvent[];
  /** The call by the server of the network that has shown the ad in the page. */
  callback: RecordedEvent | undefined;
}

function readEvidence({ recordedEvents }: JudgeInput, { id, evidence }: DecisionState): Evidence {
  const events = recordedEvents.get(id) ?? [];
  if (evidence === null) return { events, callback: undefined };
  return {
    events: events.filter(({ type }) => type !== 'source_callback'),
    callback: findFirst(events, 'source_callback'),
  };
}

/** An ad that an ad SDK in the page has shown counts toward the caps, although its impression can't be verified. */
const findServed = (decision: DecisionState, { events, callback }: Evidence): number | undefined =>
  decision.evidence === null
    ? checkImpression(decision, events)
    : findPageAd(decision, events, callback);

function judgeReward(
  input: JudgeInput,
  decision: DecisionState,
  { events, callback }: Evidence,
): RewardVerdict | undefined {
  const { rewardState, format, id, servedAtMs, invalidReason } = decision;
  if (rewardState !== 'none' && rewardState !== 'pending') return undefined;
  const placement = input.snapshot.placements.get(decision.placement)?.placement;
  const rejection = format === 'rewarded' ? input.rejectedCompletions.get(id) : undefined;
  if (rejection) return rejection;
  const rewardInput = {
    decision,
    events,
    servedAtMs: servedAtMs ?? undefined,
    invalid: invalidReason !== null,
    killed: isAdKilled(input.snapshot, decision, input.nowMs),
    otherAdViews: input.history.otherAdViews(decision),
    capped: servedAtMs !== null && isCapped(input, decision, servedAtMs),
    isPlayerProven: (placement?.identity ?? 'none') !== 'none',
  };
  return decision.evidence === null
    ? checkReward(rewardInput)
    : checkPageReward({ ...rewardInput, callback });
}

/**
 * Rechecks the caps when an ad is completed. Otherwise, a player could evade the caps by requesting many ads in
 * advance. Only ads that earned a reward count, and no more than the caps allow are ever paid. If two ads play in two
 * tabs at the same time, the ad that is completed first is rewarded.
 */
function isCapped(
  { snapshot, history }: JudgeInput,
  decision: DecisionState,
  servedAtMs: number,
): boolean {
  const placement = snapshot.placements.get(decision.placement)?.placement;
  const exceeds = (limits: Limits, onlyInPage = false): boolean => {
    const windowMs = capWindowMs(limits);
    if (windowMs === 0) return false;
    const times = history.rewardTimesNear(decision, servedAtMs, windowMs, onlyInPage);
    return exceedsCaps(limits, times, servedAtMs);
  };
  return (
    (placement !== undefined && exceeds(placement)) ||
    (decision.evidence !== null && exceeds(pageRewardLimits(placement), true))
  );
}
