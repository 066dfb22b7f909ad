import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../event/decision-state.ts';
import type { Scope } from '../store/database.ts';
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
 * What the SDK and the game's server read of a reward. Its receipt is signed for each reader instead of stored, which
 * would take 480 bytes for each reward; Ed25519 signatures are deterministic. It names the user of the decision, or the
 * one in the token, because a child's name is not stored. Earlier releases stored receipts.
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
