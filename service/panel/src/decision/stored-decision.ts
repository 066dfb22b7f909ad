import type { AdEvent, Decision, Delivery, RewardStatus } from '@trueward/protocol/wire';

/** A decision as it was stored. */
export type StoredDecision = Partial<Decision> & {
  id: string;
  user_ref?: string;
  custom_data?: string;
};

/** An event as it was recorded, with what the service thought of it. */
export type StoredEvent = Pick<AdEvent, 'id' | 'type'> & {
  occurred_at?: string;
  received_at?: string;
  watched_ms?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
  status?: string;
  code?: string;
};

/** Everything that is known of one decision. */
export interface DecisionStory {
  decision: StoredDecision;
  explain?: Decision['explain'];
  events?: StoredEvent[];
  reward?: Partial<RewardStatus> & { reasons?: string[] };
  deliveries?: Delivery[];
}
