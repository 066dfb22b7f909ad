import {
  type DecisionState,
  makeEventKey,
  type RecordedEvent,
} from '../decision/decision-state.ts';
import { minimumImpressionMs, impressionEvidence } from './check-events.ts';
import { minimumElapsedMs } from './watch-time.ts';

/*
 * An event that arrives before it can have occurred comes from a cheat, or from a process whose clock differs from the
 * clock of the process that issued the decision. The service can't tell them apart if the difference is small, so it
 * waits until the event is possible by any clock. Waiting denies nobody and pays nothing early.
 */

/** The longest wait, and so the greatest difference between two processes' clocks that has no effect. */
export const maxHoldMs = 2_000;

/** An event that arrived too early and was not recorded. */
export interface EarlyEvent {
  id: string;
  /** How much later the event would have been possible. */
  earlyByMs: number;
}

/** Returns by how much an event arrived before it can have occurred, or 0. */
function computeEarlyMs(decision: DecisionState, event: RecordedEvent): number {
  const minimumMs = Math.max(
    decision.servedAtMs === null && impressionEvidence(decision, event)
      ? minimumImpressionMs(decision)
      : 0,
    isUnsettled(decision) ? minimumElapsedMs(event.type, decision.requiredMs ?? 0) : 0,
  );
  return Math.max(0, Math.ceil(decision.issuedAtMs + minimumMs - event.receivedAtMs));
}

const isUnsettled = ({ format, rewardState }: DecisionState): boolean =>
  format === 'rewarded' && (rewardState === 'none' || rewardState === 'pending');

interface Batch {
  events: readonly RecordedEvent[];
  /** Keys of events that are judged even if they are too early. */
  finalEvents: ReadonlySet<string>;
  /** Keys of events sent by bots. */
  botEvents: ReadonlySet<string>;
}

/** Returns the new events that arrived before they can have occurred. */
export function findEarly(
  { events, finalEvents, botEvents }: Batch,
  decisions: ReadonlyMap<string, DecisionState>,
  recordedEvents: ReadonlyMap<string, readonly RecordedEvent[]>,
): Map<RecordedEvent, EarlyEvent> {
  const earlyEvents = new Map<RecordedEvent, EarlyEvent>();
  for (const event of events) {
    const decision = decisions.get(event.decisionId);
    if (!decision || decision.invalidReason !== null) continue;
    const earlyByMs = computeEarlyMs(decision, event);
    if (earlyByMs === 0) continue;
    const key = makeEventKey(event);
    const isKnown = recordedEvents.get(decision.id)?.some(({ id }) => id === event.id) === true;
    if (!isKnown && !finalEvents.has(key) && !botEvents.has(key))
      earlyEvents.set(event, { id: event.id, earlyByMs });
  }
  return earlyEvents;
}

/** Thrown when an event is too early for now, but may be possible by another process's clock. */
export class UndecidedTimeError extends Error {
  readonly retryAfterS: number;
  constructor(earlyByMs: number) {
    super('The clocks of the service differ too much to judge these events now: send them again.');
    this.name = 'UndecidedTimeError';
    this.retryAfterS = Math.min(60, Math.ceil(earlyByMs / 1_000));
  }
}
