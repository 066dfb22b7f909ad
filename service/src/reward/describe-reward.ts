import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../event/decision-state.ts';
import type { Scope } from '../resource/scope.ts';
import type { Receipts } from './receipt.ts';

type Rewarded = Pick<
  DecisionState,
  'id' | 'placement' | 'rewardState' | 'rewardReason' | 'reward' | 'receipt' | 'settledAtMs'
>;

/**
 * What is told of a reward. A receipt that was not stored (a child's) is signed again when the token
 * says whom it names; Ed25519 makes the same signature each time.
 */
export function describeReward(
  receipts: Receipts,
  scope: Scope,
  state: Rewarded,
  userRef: string | undefined,
): RewardStatus {
  const { id, placement, reward, settledAtMs } = state;
  const missing = state.rewardState === 'earned' && state.receipt === null;
  const receipt =
    missing && reward && userRef !== undefined && settledAtMs !== null
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
