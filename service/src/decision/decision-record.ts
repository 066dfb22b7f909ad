import type { DecisionRequest, Explanation, Reward } from '@trueward/protocol/wire';
import type { EventDraft } from '../resource/change-events.ts';
import type { Scope } from '../store/database.ts';

/** A new row of the table `decisions`; members have the names of its columns, and times are unix milliseconds. */
export interface DecisionRecord {
  id: string;
  status: 'filled' | 'no_fill' | 'blocked';
  reason: string | null;
  placement: string;
  format: string;
  creative_id: string | null;
  media_format: 'video' | 'image' | 'html' | null;
  advertiser_id: string | null;
  source_id: string | null;
  house_ad_id: string | null;
  /** The house ad, if it has a daily cap that this decision counts against. */
  reserved_ad: string | null;
  reward: Reward | null;
  required_ms: number | null;
  /** Why it is invalid traffic, where that is known from the beginning. */
  invalid_reason: 'bot' | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  user_ref: string | null;
  viewer: string | null;
  custom_data: string | null;
  /** Why each candidate lost; in live only for decisions without an ad. */
  explain: readonly Explanation[] | null;
  issued_at: number;
  expires_at: number;
  late_at: number | null;
}

/** A decision on its way to the store. */
export interface MadeDecision {
  scope: Scope;
  record: DecisionRecord;
  /** `policy.blocked`, where that is the case. */
  event?: EventDraft;
}
