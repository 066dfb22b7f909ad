import type { AdEvent, DecisionRequest, Reward, RewardStatus } from '@trueward/protocol/wire';

/** The reason traffic is invalid. Invalid traffic is counted, but it isn't billed or rewarded. */
export type InvalidReason = 'bot' | 'impossible_order';

/** The state of a filled decision, which determines how its events are judged. Times are in Unix milliseconds. */
export interface DecisionState {
  id: string;
  placement: string;
  format: string;
  mediaFormat: 'video' | 'image' | 'html';
  creativeId: string;
  advertiserId: string;
  sourceId: string;
  /** Null for an external ad. */
  houseAdId: string | null;
  userRef: string | null;
  /** The player's pseudonym. */
  viewer: string | null;
  customData: string | null;
  reward: Reward | null;
  requiredMs: number | null;
  /** Null for valid traffic. */
  invalidReason: InvalidReason | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  issuedAtMs: number;
  expiresAtMs: number;
  lateAtMs: number;
  servedAtMs: number | null;
  rewardState: RewardStatus['state'];
  rewardReason: RewardStatus['reason'] | null;
  /** A receipt stored by an earlier release; never stored for children, because it would identify them. */
  receipt: string | null;
  settledAtMs: number | null;
}

/** An event of a decision, with times by the service's clock. */
export interface RecordedEvent {
  id: string;
  decisionId: string;
  type: AdEvent['type'];
  /**
   * The client's time, corrected for clock skew and clamped to the time between the decision and the event's receipt.
   */
  occurredAtMs: number;
  receivedAtMs: number;
  /** The correction added to the client's time: its clock skew plus the network latency. */
  offsetMs: number;
  /** Whether the client's time had to be clamped. */
  clamped: boolean;
  watchedMs?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
}

/**
 * Whether the impression and the reward must be judged again because of this event. All other events are just counted
 * and checked for their order.
 */
export const isEvidence = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'start' || type === 'impression' || type === 'viewable' || type === 'complete';

/** Returns the unique key of an event. Devices choose event ids, so an id is unique only within its decision. */
export const makeEventKey = ({
  decisionId,
  id,
}: Pick<RecordedEvent, 'decisionId' | 'id'>): string => `${decisionId}/${id}`;
