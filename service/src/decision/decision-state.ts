import type { AdEvent, DecisionRequest, Reward, RewardStatus } from '@trueward/protocol/wire';

/** Why traffic is invalid: it is counted, but neither billed nor rewarded. */
export type InvalidReason = 'bot' | 'impossible_order';

/** The row of a filled decision, against which its events are judged. Times are unix milliseconds. */
export interface DecisionState {
  id: string;
  placement: string;
  format: string;
  mediaFormat: 'video' | 'image' | 'html';
  creativeId: string;
  advertiserId: string;
  sourceId: string;
  /** Null for an outside ad. */
  houseAdId: string | null;
  userRef: string | null;
  /** The pseudonym of the player. */
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
  /** The receipt that an earlier release stored. A child's is never stored, because it names the child. */
  receipt: string | null;
  settledAtMs: number | null;
}

/** An event of a decision, with its times on the service's clock. */
export interface RecordedEvent {
  id: string;
  decisionId: string;
  type: AdEvent['type'];
  /** The client's time, corrected for its clock skew and clamped between issue and receipt. Unix milliseconds. */
  occurredAtMs: number;
  receivedAtMs: number;
  /** The correction added to the client's time: its clock skew plus the time in flight. */
  offsetMs: number;
  /** Whether the client's time had to be clamped. */
  clamped: boolean;
  watchedMs?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
}

/**
 * Whether impression and reward are judged again when the event arrives. The other types are only counted
 * and checked for their order.
 */
export const isEvidence = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'start' || type === 'impression' || type === 'viewable' || type === 'complete';

/** The unique key of an event. Devices choose event ids independently, so an id is unique per decision only. */
export const keyOf = ({ decisionId, id }: Pick<RecordedEvent, 'decisionId' | 'id'>): string =>
  `${decisionId}/${id}`;
