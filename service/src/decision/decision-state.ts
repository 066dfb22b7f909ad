import type { AdEvent, DecisionRequest, Reward, RewardStatus } from '@trueward/protocol/wire';

/** Why traffic is invalid. Invalid traffic is counted, but it isn't billed or rewarded. */
export type InvalidReason = 'bot' | 'impossible_order';

/** Who says that an ad was watched which an ad SDK in the page has shown: only that SDK, or its network's server too. */
export type PageEvidence = 'client_attested' | 'source_attested';

/** The state of a filled decision. Its events are evaluated against this state. Times are in Unix milliseconds. */
export interface DecisionState {
  id: string;
  placement: string;
  format: string;
  /** `page` for an ad that an ad SDK in the page has chosen and shown, of which the service sees nothing. */
  mediaFormat: 'video' | 'image' | 'html' | 'page';
  /** Null for an ad that was chosen in the page. */
  creativeId: string | null;
  advertiserId: string | null;
  sourceId: string;
  /** Null for an external ad. */
  houseAdId: string | null;
  userRef: string | null;
  /** The player's pseudonym. */
  viewer: string | null;
  customData: string | null;
  reward: Reward | null;
  requiredMs: number | null;
  /** What the reward rests on; null if the service verifies the ad view itself. */
  evidence: PageEvidence | null;
  /** Null for valid traffic. */
  invalidReason: InvalidReason | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  issuedAtMs: number;
  expiresAtMs: number;
  lateAtMs: number;
  servedAtMs: number | null;
  rewardState: RewardStatus['state'];
  rewardReason: RewardStatus['reason'] | null;
  settledAtMs: number | null;
}

/**
 * An event for a decision: reported by the player's device, or the callback of the network that has shown the ad. Times
 * are converted to the service's clock.
 */
export interface RecordedEvent {
  id: string;
  decisionId: string;
  type: AdEvent['type'] | 'source_callback';
  /** The client's time, corrected for clock skew and clamped to the period from the decision to the event's arrival. */
  occurredAtMs: number;
  receivedAtMs: number;
  /** The correction added to the client's time: the client's clock skew plus the network latency. */
  offsetMs: number;
  /** Whether the client's time had to be clamped. */
  clamped: boolean;
  watchedMs?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
}

/**
 * Whether the event can change the verdict on the impression or the reward. All other events are only counted and
 * checked for a plausible order.
 */
export const isEvidence = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'start' ||
  type === 'impression' ||
  type === 'viewable' ||
  type === 'complete' ||
  type === 'source_callback';

/** Whether the event ends the view for which a reward may be due. */
export const isCompletion = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'complete' || type === 'source_callback';

/** Returns the unique key of an event. Devices choose event ids, so an event id is unique only within its decision. */
export const makeEventKey = ({
  decisionId,
  id,
}: Pick<RecordedEvent, 'decisionId' | 'id'>): string => `${decisionId}/${id}`;
