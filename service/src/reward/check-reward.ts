import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../event/decision-state.ts';
import type { RecordedEvent } from '../event/recorded-event.ts';
import {
  firstOf,
  isContradicted,
  isImpossible,
  isOverbooked,
  overlaps,
  watchedShare,
  watchOf,
  type Watch,
} from './watch-time.ts';

/** Everything that one reward depends on. */
export interface RewardFacts {
  decision: Pick<DecisionState, 'format' | 'reward' | 'requiredMs' | 'simulate' | 'issuedAtMs'>;
  /** All events of the decision that count. */
  events: readonly RecordedEvent[];
  /** When the impression was verified, or undefined when it was not. */
  servedAtMs: number | undefined;
  killed: boolean;
  /** What else this user watched and was rewarded for. */
  otherWatches: readonly Watch[];
  /** Whether it is no player's traffic. */
  invalid: boolean;
  /** Whether the user's verified impressions already reached the placement's caps without this one. */
  capped: boolean;
}

export interface RewardVerdict {
  state: Exclude<RewardStatus['state'], 'none'>;
  reason?: NonNullable<RewardStatus['reason']>;
  /** What was watched; with `earned`. */
  watch?: Watch;
}

/**
 * Judges a completion; undefined as long as there is none. Every refusal has a reason. A denial needs evidence
 * that no honest player can produce; where proof is missing, the reward is pending until more arrives or the
 * late window ends.
 */
export function checkReward(facts: RewardFacts): RewardVerdict | undefined {
  const { decision, events } = facts;
  const complete = firstOf(events, 'complete');
  if (decision.format !== 'rewarded' || !complete) return undefined;
  if (decision.reward === null) return denied('not_rewarded_placement');
  if (decision.simulate === 'reward_denied') return denied('simulated');
  if (decision.simulate === 'reward_pending') return pending('simulated');
  if (facts.invalid) return denied('invalid_traffic');
  if (facts.killed) return denied('killed');

  const { issuedAtMs } = decision;
  const requiredMs = decision.requiredMs ?? 0;
  if ((complete.watchedMs ?? 0) < requiredMs * watchedShare) return denied('watched_too_little');
  if (isImpossible({ issuedAtMs, requiredMs }, events)) return denied('impossible_timing');

  // The report of the impression may still be on its way: another request can overtake it.
  if (facts.servedAtMs === undefined) return pending('no_impression');
  const watch = watchOf({ issuedAtMs, requiredMs }, events, complete);
  if (isOverbooked(watch, facts.otherWatches)) return denied('overlapping_watch');
  if (facts.capped) return denied('frequency_capped');
  if (isContradicted(requiredMs, events)) return pending('impossible_timing');
  if (overlaps(watch, facts.otherWatches)) return pending('overlapping_watch');
  return { state: 'earned', watch };
}

const denied = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'denied',
  reason,
});

const pending = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
  state: 'pending',
  reason,
});
