import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';
import {
  findFirst,
  isContradicted,
  isImpossible,
  isOverbooked,
  overlaps,
  type AdView,
  watchedShare,
  deriveAdView,
} from './watch-time.ts';

/** Everything that determines whether a reward is earned. */
export interface RewardInput {
  decision: Pick<DecisionState, 'format' | 'reward' | 'requiredMs' | 'simulate' | 'issuedAtMs'>;
  /** All of the decision's accepted events. */
  events: readonly RecordedEvent[];
  /** The time of the verified impression. Undefined if there is none. */
  servedAtMs: number | undefined;
  killed: boolean;
  /** The player's other ad views that earned a reward. */
  otherAdViews: readonly AdView[];
  /** Whether the decision is invalid traffic. */
  invalid: boolean;
  /** Whether the player's other rewards have reached the placement's caps. */
  capped: boolean;
  /** Whether the placement requires proof of who the player is, so that its rewards are all one player's. */
  isPlayerProven: boolean;
}

export interface RewardVerdict {
  state: Exclude<RewardStatus['state'], 'none'>;
  reason?: NonNullable<RewardStatus['reason']>;
  /** Set if the reward is earned. */
  adView?: AdView;
}

/**
 * Decides whether a completed ad earns its reward. Returns undefined if the ad hasn't been completed. Rewards are
 * denied only for events that an honest player can't produce. If events are missing, the reward is pending until they
 * arrive or the late window ends.
 */
export function checkReward(input: RewardInput): RewardVerdict | undefined {
  const { decision, events } = input;
  if (decision.format !== 'rewarded' || !findFirst(events, 'complete')) return undefined;
  const ground = checkGround(input);
  if (ground) return ground;

  const { issuedAtMs } = decision;
  const requiredMs = decision.requiredMs ?? 0;
  // A file that is shorter than declared ends early for an honest player. A completion that claims so little is no claim
  // to the reward, so its time proves nothing either.
  const claims = events.filter((event) => !claimsTooLittle(event, requiredMs));
  const complete = findFirst(claims, 'complete');
  if (!complete) return keepPending('watched_too_little');
  if (isImpossible({ issuedAtMs, requiredMs }, claims)) return deny('impossible_timing');

  // The impression may still arrive, because requests can arrive out of order.
  if (input.servedAtMs === undefined) return keepPending('no_impression');
  const adView = deriveAdView({ issuedAtMs, requiredMs }, events, complete);
  // Without proof, the other rewards may be those of other players whom the game gave the same reference by mistake.
  if (input.capped)
    return input.isPlayerProven ? deny('frequency_capped') : keepPending('frequency_capped');
  if (isContradicted(requiredMs, claims)) return keepPending('impossible_timing');
  // Nothing proves that one person watched both ads: a game may by mistake give several players the same reference.
  if (isOverbooked(adView, input.otherAdViews) || overlaps(adView, input.otherAdViews))
    return keepPending('overlapping_watch');
  return { state: 'earned', adView };
}

/** Returns the verdict if it doesn't depend on how the ad was watched. */
export function checkGround({
  decision,
  invalid,
  killed,
}: Pick<RewardInput, 'invalid' | 'killed'> & {
  decision: Pick<RewardInput['decision'], 'reward' | 'simulate'>;
}): RewardVerdict | undefined {
  if (decision.reward === null) return deny('not_rewarded_placement');
  if (decision.simulate === 'reward_denied') return deny('simulated');
  if (decision.simulate === 'reward_pending') return keepPending('simulated');
  if (invalid) return deny('invalid_traffic');
  return killed ? deny('killed') : undefined;
}

const claimsTooLittle = ({ type, watchedMs = 0 }: RecordedEvent, requiredMs: number): boolean =>
  type === 'complete' && watchedMs < requiredMs * watchedShare;

export const deny = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'denied',
  reason,
});

export const keepPending = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'pending',
  reason,
});
