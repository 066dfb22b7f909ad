import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../event/decision-state.ts';
import type { Scope } from '../resource/scope.ts';
import type { Receipts } from './receipt.ts';

type Rewarded = Pick<
  DecisionState,
  | 'id'
  | 'placement'
  | 'rewardState'
  | 'rewardReason'
  | 'reward'
  | 'receipt'
  | 'settledAtMs'
  | 'userRef'
>;

/**
 * What is told of a reward. A receipt that is not stored is signed again for the user of the decision, or for the one
 * that the token names, because a child's name is not stored; Ed25519 makes the same signature each time. The next
 * release need not store any: 480 bytes less for each reward.
 */
export function describeReward(
  receipts: Receipts,
  scope: Scope,
  state: Rewarded,
  tokenUserRef: string | undefined,
): RewardStatus {
  const { id, placement, reward, settledAtMs } = state;
  const userRef = state.userRef ?? tokenUserRef;
  const missing = state.rewardState === 'earned' && state.receipt === null;
  const receipt =
    missing && reward && userRef != null && settledAtMs !== null
      ? receipts.sign({
          scope,
          decisionId: id,
          userRef,
          placement,
          reward,
          nowMs: settledAtMs,
        })
      : state.receipt;
  return {
    id,
    state: state.rewardState,
    ...(state.rewardReason ? { reason: state.rewardReason } : {}),
    ...(reward ? { reward } : {}),
    ...(receipt ? { receipt } : {}),
  };
}
