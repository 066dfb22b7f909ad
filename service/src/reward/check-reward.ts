import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../event/decision-state.ts';
import type { RecordedEvent } from '../event/recorded-event.ts';

/** A stretch of watching, in unix milliseconds. */
export interface Watch {
  fromMs: number;
  toMs: number;
}

/** Everything that one reward depends on. */
export interface RewardFacts {
  decision: Pick<DecisionState, 'format' | 'requiredMs' | 'simulate' | 'issuedAtMs' | 'lateAtMs'>;
  /** All events of the decision that count. */
  events: readonly RecordedEvent[];
  /** When the impression was verified, or undefined when it was not. */
  servedAtMs: number | undefined;
  killed: boolean;
  /** What else this user watched and was rewarded for. */
  otherWatches: readonly Watch[];
  /** Whether the user's verified impressions already reached the placement's cap before this one. */
  capped: boolean;
}

export interface RewardVerdict {
  state: Exclude<RewardStatus['state'], 'none'>;
  reason?: NonNullable<RewardStatus['reason']>;
  /** What was watched; with `earned`. */
  watch?: Watch;
}

/** Players' clocks and timers are not exact: 95 % counts as the whole. */
const watchedShare = 0.95;
/** Start and completion reach the service by ways of different length. */
const jitterMs = 2_000;

/** Judges a completion; undefined as long as there is none. Every refusal has a reason. */
export function checkReward(facts: RewardFacts): RewardVerdict | undefined {
  const { decision, events } = facts;
  const complete = earliest(events, 'complete');
  if (decision.format !== 'rewarded' || !complete) return undefined;
  const denied = (reason: NonNullable<RewardStatus['reason']>): RewardVerdict => ({
    state: 'denied',
    reason,
  });

  if (decision.simulate === 'reward_denied') return denied('simulated');
  if (decision.simulate === 'reward_pending') return { state: 'pending', reason: 'simulated' };
  if (facts.killed) return denied('killed');

  const requiredMs = (decision.requiredMs ?? 0) * watchedShare;
  if ((complete.watchedMs ?? 0) < requiredMs) return denied('watched_too_little');
  // By the service's clock alone, whatever the client says.
  if (complete.receivedAtMs - decision.issuedAtMs < requiredMs) return denied('impossible_timing');
  const watch = watchOf(decision.issuedAtMs, earliest(events, 'start'), complete);
  if (watch.toMs - watch.fromMs < requiredMs - toleranceMs(requiredMs))
    return denied('impossible_timing');

  // The report of the impression may still be on its way: another request can overtake it.
  if (facts.servedAtMs === undefined) return { state: 'pending', reason: 'no_impression' };
  if (facts.otherWatches.some((other) => overlapMs(other, watch) > toleranceMs(requiredMs))) {
    return denied('overlapping_watch');
  }
  if (facts.capped) return denied('frequency_capped');
  return { state: 'earned', watch };
}

/** Without a `start`, what the client says that it watched is taken to have ended at the completion. */
function watchOf(
  issuedAtMs: number,
  start: RecordedEvent | undefined,
  complete: RecordedEvent,
): Watch {
  const toMs = complete.occurredAtMs;
  const fromMs = start?.occurredAtMs ?? Math.max(issuedAtMs, toMs - (complete.watchedMs ?? 0));
  return { fromMs, toMs };
}

const toleranceMs = (requiredMs: number): number => Math.min(jitterMs, requiredMs / 4);

const overlapMs = (a: Watch, b: Watch): number =>
  Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs);

function earliest(
  events: readonly RecordedEvent[],
  type: RecordedEvent['type'],
): RecordedEvent | undefined {
  return events
    .filter((event) => event.type === type)
    .toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)[0];
}
