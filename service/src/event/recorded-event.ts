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
