import type { AdEvent } from '@trueward/protocol/wire';

/** An event as the service keeps it: its time by the service's clock. */
export interface RecordedEvent {
  id: string;
  decisionId: string;
  type: AdEvent['type'];
  /** When it happened: the client's time, corrected by its skew and clamped to issue…receipt. Unix milliseconds. */
  occurredAtMs: number;
  receivedAtMs: number;
  /** What was added to the client's time: the skew of its clock and the way of the request. */
  offsetMs: number;
  /** Whether the client's time had to be clamped. */
  clamped: boolean;
  watchedMs?: number;
  visible?: { ratio: number; ms: number };
  detail?: string;
}

/**
 * Whether impression and reward are judged anew when it comes. Of the others is counted that they
 * came, and in what order; none of them moves a decision on.
 */
export const isEvidence = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  type === 'start' || type === 'impression' || type === 'viewable' || type === 'complete';

/** What an event is known by: ids of events are the device's, and no two devices have asked each other. */
export const keyOf = ({ decisionId, id }: Pick<RecordedEvent, 'decisionId' | 'id'>): string =>
  `${decisionId}/${id}`;
