import type { EventResult } from '@trueward/protocol/wire';
import type { DecisionState, InvalidReason, RecordedEvent } from '../decision/decision-state.ts';
import { isOutOfOrder, correctEventTime, smallestOffset } from '../reward/watch-time.ts';

/** How long after the decision has expired an ad that started in time may still report its impression. */
export const impressionGraceMs = 60_000;

/**
 * Returns the earliest time at which an event can have occurred, assuming that the device's clock is not behind: the
 * request may have been on its way for the entire clock difference, for example while the device slept.
 */
export const computeEarliest = ({ occurredAtMs, offsetMs }: RecordedEvent): number =>
  occurredAtMs - Math.max(0, offsetMs);

/** Types of events that are billed or rewarded. */
const countedTypes: ReadonlySet<RecordedEvent['type']> = new Set([
  'impression',
  'viewable',
  'complete',
  'click',
]);

/**
 * Returns why an event is rejected: it is late, its ad had expired or was killed, or its traffic is invalid. Undefined
 * if the event is accepted. Once the ad has started, the expiry no longer applies.
 */
export function checkArrival(
  event: RecordedEvent,
  decision: DecisionState,
  killed: boolean,
): NonNullable<EventResult['code']> | undefined {
  if (event.receivedAtMs > decision.lateAtMs) return 'late';
  const isBeginning = event.type === 'start' || event.type === 'impression';
  if (
    isBeginning &&
    computeEarliest(event) > decision.expiresAtMs + (event.type === 'start' ? 0 : impressionGraceMs)
  ) {
    return 'expired';
  }
  if (!countedTypes.has(event.type)) return undefined;
  if (decision.invalidReason !== null) return 'invalid_traffic';
  return killed ? 'killed' : undefined;
}

/** Minimum visible share and time of a viewable impression (MRC/IAB: 50% for 1 s, or 2 s for video). */
const minimumRatio = 0.5;
const minimumMs = { video: 2_000, image: 1_000, html: 1_000 } as const;

/**
 * Returns when the ad was verifiably viewed (Unix milliseconds); undefined if it wasn't. The evidence is an `impression`
 * or `viewable` event whose visible time fits, by the service's clock, between the decision and the event's arrival.
 */
export function checkImpression(
  decision: Pick<DecisionState, 'mediaFormat' | 'issuedAtMs' | 'expiresAtMs'>,
  events: readonly RecordedEvent[],
): number | undefined {
  const minimum = minimumMs[decision.mediaFormat];
  const offsetMs = smallestOffset(events);
  const times = events
    .filter(({ type }) => type === 'impression' || type === 'viewable')
    .filter(
      (event) =>
        computeEarliest(event) <= decision.expiresAtMs + impressionGraceMs &&
        event.visible !== undefined &&
        event.visible.ratio >= minimumRatio &&
        event.visible.ms >= minimum &&
        event.receivedAtMs - decision.issuedAtMs >= minimum,
    )
    .map((event) => correctEventTime(event, offsetMs, decision.issuedAtMs + minimum));
  // A request that arrives after the expiry may report a view that happened before it.
  return times.length === 0
    ? undefined
    : Math.min(...times, decision.expiresAtMs + impressionGraceMs);
}

/**
 * Returns why the events cannot come from a player; undefined if they can.
 *
 * The number of requested ads is not evidence: anyone with the publishable key can request ads for any player, and
 * banners below the fold are never seen.
 */
export const checkTraffic = (
  requiredMs: number | null,
  events: readonly RecordedEvent[],
): InvalidReason | undefined =>
  isOutOfOrder(events, requiredMs ?? 0) ? 'impossible_order' : undefined;
