import type { EventResult } from '@trueward/protocol/wire';
import type { DecisionState, InvalidReason, RecordedEvent } from '../decision/decision-state.ts';
import { isOutOfOrder, placeEvent, smallestOffset } from '../reward/watch-time.ts';

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

/** Share of the pixels, and milliseconds, of a viewable impression (MRC/IAB: 1 s display, 2 s video). */
const minimumRatio = 0.5;
const minimumMs = { video: 2_000, image: 1_000, html: 1_000 } as const;

/**
 * When the ad was verifiably seen (unix milliseconds), or undefined. The evidence comes with
 * `impression` or `viewable`, and must have been possible since the decision by the service's clock.
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
        earliestOf(event) <= decision.expiresAtMs + showGraceMs &&
        event.visible !== undefined &&
        event.visible.ratio >= minimumRatio &&
        event.visible.ms >= minimum &&
        event.receivedAtMs - decision.issuedAtMs >= minimum,
    )
    .map((event) => placeEvent(event, offsetMs, decision.issuedAtMs + minimum));
  // If the request was in flight past the expiry, the ad was still seen before it.
  return times.length === 0 ? undefined : Math.min(...times, decision.expiresAtMs + showGraceMs);
}

/**
 * Why no player can have made these events; undefined when one can.
 *
 * How many ads were asked for is no reason: whoever has a public key can ask in any player's name, and
 * banners below the fold are never seen.
 */
export const checkTraffic = (
  requiredMs: number | null,
  events: readonly RecordedEvent[],
): InvalidReason | undefined =>
  isOutOfOrder(events, requiredMs ?? 0) ? 'impossible_order' : undefined;
