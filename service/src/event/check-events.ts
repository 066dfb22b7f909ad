import type { EventResult } from '@trueward/protocol/wire';
import type { DecisionState, InvalidReason, RecordedEvent } from '../decision/decision-state.ts';
import { isOutOfOrder, correctEventTime, smallestOffset } from '../reward/watch-time.ts';

/** If an ad started before its decision expired, its impression is accepted for this long after the expiry. */
export const impressionGraceMs = 60_000;

/**
 * Returns the earliest time at which an event can have occurred, assuming that the device's clock isn't slow. In that
 * case, the difference between the clocks may be entirely due to the time the request took, for example because the
 * device was asleep.
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
 * Returns the reason an event is rejected, or undefined if it is accepted. An event is rejected if it is late, if its
 * ad has expired or was stopped by a kill switch, or if its traffic is invalid. Once an ad has started, it can no
 * longer expire.
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

/**
 * In a viewable impression, at least this share of the ad is visible for at least this time (MRC/IAB: 50% for 1 s, or 2
 * s for video).
 */
const minimumRatio = 0.5;
const minimumMs = { video: 2_000, image: 1_000, html: 1_000 } as const;

/**
 * Returns the time at which the ad was verifiably viewed (Unix milliseconds), or undefined if it wasn't. The evidence
 * is an `impression` or `viewable` event. By the service's clock, its visible time must fit between the decision and
 * the event's arrival.
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
 * Returns the reason the events can't have come from a real player, or undefined if they may have.
 *
 * A large number of requested ads proves nothing: anyone with the publishable key can request ads for any player, and
 * banners below the fold are never seen.
 */
export const checkTraffic = (
  requiredMs: number | null,
  events: readonly RecordedEvent[],
): InvalidReason | undefined =>
  isOutOfOrder(events, requiredMs ?? 0) ? 'impossible_order' : undefined;
