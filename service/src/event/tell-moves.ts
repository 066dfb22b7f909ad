import { type Count, countOf } from '../report/rollup.ts';
import type { Scope } from '../store/database.ts';
import type { EventDraft } from '../resource/change-events.ts';
import type { DecisionState } from '../decision/decision-state.ts';
import type { Move } from './move-decisions.ts';

const isServed = ({ before, after }: Move): boolean =>
  before.servedAtMs === null && after.servedAtMs !== null;
const isSettled = ({ before, after }: Move): boolean =>
  before.rewardState !== after.rewardState && after.rewardState !== 'pending';

/** What is counted of moves. */
export function countMoves(scope: Scope, moves: readonly Move[], nowMs: number): Count[] {
  return moves.flatMap((move) => {
    const { before, after } = move;
    const { invalidReason, servedAtMs, rewardState, rewardReason } = after;
    return [
      ...(invalidReason !== null && before.invalidReason === null
        ? [countOf(scope, after, nowMs, 'invalid_traffic', invalidReason)]
        : []),
      ...(servedAtMs !== null && isServed(move)
        ? [countOf(scope, after, servedAtMs, 'impressions')]
        : []),
      ...(isSettled(move)
        ? [countOf(scope, after, nowMs, `rewards_${rewardState}`, rewardReason ?? undefined)]
        : []),
    ];
  });
}

/** What the customer's server is told of moves; `userRefs` are the names of users, by decision. */
export function announceMoves(
  moves: readonly Move[],
  userRefs: ReadonlyMap<string, string>,
): EventDraft[] {
  return moves.flatMap((move) => {
    const earned = earnedBy(move, userRefs);
    return [
      ...(isServed(move) ? [servedEvent(move.after)] : []),
      ...(earned ? [rewardedEvent(move.after, earned)] : []),
    ];
  });
}

interface Earned {
  reward: NonNullable<DecisionState['reward']>;
  userRef: string;
}

function earnedBy(
  { before, after }: Move,
  userRefs: ReadonlyMap<string, string>,
): Earned | undefined {
  const { reward } = after;
  const userRef = userRefs.get(after.id);
  const isNew = after.rewardState === 'earned' && before.rewardState !== 'earned';
  return isNew && reward !== null && userRef !== undefined ? { reward, userRef } : undefined;
}

const servedEvent = (decision: DecisionState): EventDraft => ({
  type: 'decision.served',
  data: {
    decision_id: decision.id,
    placement: decision.placement,
    creative_id: decision.creativeId,
    advertiser_id: decision.advertiserId,
    source_id: decision.sourceId,
    ...(decision.userRef === null ? {} : { user_ref: decision.userRef }),
    viewable: true,
  },
});

const rewardedEvent = (
  { id, placement, customData, userRef: stored }: DecisionState,
  { reward, userRef }: Earned,
): EventDraft => ({
  type: 'decision.rewarded',
  data: {
    decision_id: id,
    placement,
    user_ref: userRef,
    reward,
    ...(customData === null ? {} : { custom_data: customData }),
  },
  confidential: stored === null,
});
