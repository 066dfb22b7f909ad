import type { AdEvent, Decision, Delivery, RewardStatus } from '@trueward/protocol/wire';

/** A stored decision. */
export type StoredDecision = Partial<Decision> & {
  id: string;
  user_ref?: string;
  custom_data?: string;
  reward_state?: RewardStatus['state'];
  reward_reason?: string;
  creative_id?: string;
  invalid_reason?: string;
  /** The type of the event that arrived last. Only in lists. */
  last_event?: AdEvent['type'];
};

/** A recorded event and its result. */
export type StoredEvent = Pick<AdEvent, 'id' | 'type'> & {
  occurred_at?: string;
  received_at?: string;
  watched_ms?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
  status?: string;
  code?: string;
};

/** The kill switch or policy that blocked every ad, and the actor who set it. */
export interface Cause {
  type: 'kill_switch' | 'policy';
  id: string;
  actor?: string;
  since?: string;
  /** The policy's name, or the kill switch's reason. */
  text?: string;
}

/** A decision with its explanation, events, reward and deliveries. */
export interface DecisionDetails {
  decision: StoredDecision;
  explain?: Decision['explain'];
  cause?: Cause;
  events?: StoredEvent[];
  reward?: Partial<RewardStatus> & { reasons?: string[] };
  deliveries?: Delivery[];
}
