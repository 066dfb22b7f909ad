import type { DecisionRequest, Reward, RewardStatus } from '@trueward/protocol/wire';

/** What events are judged against: the row of their decision. Times are unix milliseconds. */
export interface DecisionState {
  id: string;
  placement: string;
  format: string;
  mediaFormat: 'video' | 'image' | 'html';
  creativeId: string;
  advertiserId: string;
  sourceId: string;
  houseAdId: string | null;
  userRef: string | null;
  viewer: string | null;
  customData: string | null;
  reward: Reward | null;
  requiredMs: number | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  issuedAtMs: number;
  expiresAtMs: number;
  lateAtMs: number;
  servedAtMs: number | null;
  rewardState: RewardStatus['state'];
  rewardReason: RewardStatus['reason'] | null;
  receipt: string | null;
}

/** What the client is told of the reward. */
export function rewardStatusOf(
  state: Pick<DecisionState, 'id' | 'rewardState' | 'rewardReason' | 'reward' | 'receipt'>,
): RewardStatus {
  return {
    id: state.id,
    state: state.rewardState,
    ...(state.rewardReason ? { reason: state.rewardReason } : {}),
    ...(state.reward ? { reward: state.reward } : {}),
    ...(state.receipt ? { receipt: state.receipt } : {}),
  };
}
