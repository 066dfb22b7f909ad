import type { DecisionRequest, Explanation, Reward } from '@trueward/protocol/wire';
import type { EventDraft } from '../webhook/event-writer.ts';
import type { Scope } from '../resource/scope.ts';

/**
 * What decisions have in common that end alike: the same ad at the same place. Decisions hold the
 * same object where they can, and what many hold is sent to the database once.
 */
export interface DecisionKind {
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
}

/** What is stored of a decision when it is made; the names, and those of its kind, are the columns. */
export interface DecisionRecord {
  kind: DecisionKind;
  id: string;
  user_ref: string | null;
  viewer: string | null;
  custom_data: string | null;
  /** For people who ask why; in live only where nothing was shown. */
  explain: readonly Explanation[] | null;
  /** Unix milliseconds, as the next two. */
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
