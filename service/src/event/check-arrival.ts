import type { EventResult } from '@trueward/protocol/wire';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';

/** An ad that began in time may report a little later that it was seen. */
export const showGraceMs = 60_000;

/**
 * The earliest time at which an event can have happened, unless the device's clock is behind: its request may
 * have been in flight for the whole difference between the two clocks, as when a device sleeps.
 */
export const earliestOf = ({ occurredAtMs, offsetMs }: RecordedEvent): number =>
  occurredAtMs - Math.max(0, offsetMs);

/** What is billed or rewarded. */
const counting: ReadonlySet<RecordedEvent['type']> = new Set([
  'impression',
  'viewable',
  'complete',
  'click',
]);

/**
 * Whether an event comes too late, or for an ad that may no longer be shown; undefined when it
 * counts. Once the ad is running, later events are free of the expiry.
 */
export function checkArrival(
  event: RecordedEvent,
  decision: DecisionState,
  killed: boolean,
): NonNullable<EventResult['code']> | undefined {
  if (event.receivedAtMs > decision.lateAtMs) return 'late';
  const beginning = event.type === 'start' || event.type === 'impression';
  if (
    beginning &&
    earliestOf(event) > decision.expiresAtMs + (event.type === 'start' ? 0 : showGraceMs)
  ) {
    return 'expired';
  }
  if (!counting.has(event.type)) return undefined;
  if (decision.invalidReason !== null) return 'invalid_traffic';
  return killed ? 'killed' : undefined;
}
