import type { DecisionRequest, Reward, RewardStatus } from '@trueward/protocol/wire';
import type { InvalidReason } from './check-traffic.ts';

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
  /** Why it is invalid traffic, where it is. */
  invalidReason: InvalidReason | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  issuedAtMs: number;
  expiresAtMs: number;
  lateAtMs: number;
  servedAtMs: number | null;
  rewardState: RewardStatus['state'];
  rewardReason: RewardStatus['reason'] | null;
  /** Of an earned reward; a child's is not stored, because it names the child. */
  receipt: string | null;
  settledAtMs: number | null;
}
