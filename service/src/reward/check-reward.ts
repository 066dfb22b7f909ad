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

/** All inputs of a reward verdict. */
export interface RewardInput {
  decision: Pick<DecisionState, 'format' | 'reward' | 'requiredMs' | 'simulate' | 'issuedAtMs'>;
  /** All accepted events of the decision. */
  events: readonly RecordedEvent[];
  /** The time of the verified impression; undefined if there is none. */
  servedAtMs: number | undefined;
  killed: boolean;
  /** The player's other ad views that earned a reward. */
  otherAdViews: readonly AdView[];
  /** Whether the decision is invalid traffic. */
  invalid: boolean;
  /** Whether the player's other rewards already exhaust the placement's caps. */
  capped: boolean;
}

export interface RewardVerdict {
  state: Exclude<RewardStatus['state'], 'none'>;
  reason?: NonNullable<RewardStatus['reason']>;
  /** Set if the reward is earned. */
  adView?: AdView;
}

/**
 * Judges a completion. Returns undefined if the ad isn't completed yet. A reward is denied only if there is evidence
 * that an honest player can't produce. If evidence is missing, the reward stays pending until the evidence arrives or
 * the late window ends.
 */
export function checkReward(input: RewardInput): RewardVerdict | undefined {
  const { decision, events } = input;
  const complete = findFirst(events, 'complete');
  if (decision.format !== 'rewarded' || !complete) return undefined;
  if (decision.reward === null) return denied('not_rewarded_placement');
  if (decision.simulate === 'reward_denied') return denied('simulated');
  if (decision.simulate === 'reward_pending') return pending('simulated');
  if (input.invalid) return denied('invalid_traffic');
  if (input.killed) return denied('killed');

  const { issuedAtMs } = decision;
  const requiredMs = decision.requiredMs ?? 0;
  if ((complete.watchedMs ?? 0) < requiredMs * watchedShare) return denied('watched_too_little');
  if (isImpossible({ issuedAtMs, requiredMs }, events)) return denied('impossible_timing');

  // The impression may still arrive, because requests can overtake each other.
  if (input.servedAtMs === undefined) return pending('no_impression');
  const adView = deriveAdView({ issuedAtMs, requiredMs }, events, complete);
  if (isOverbooked(adView, input.otherAdViews)) return denied('overlapping_watch');
  if (input.capped) return denied('frequency_capped');
  if (isContradicted(requiredMs, events)) return pending('impossible_timing');
  if (overlaps(adView, input.otherAdViews)) return pending('overlapping_watch');
  return { state: 'earned', adView };
}

const denied = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'denied',
  reason,
});

const pending = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'pending',
  reason,
});
