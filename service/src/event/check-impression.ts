import { placeEvent, smallestOffset } from '../reward/watch-time.ts';
import { earliestOf, showGraceMs } from './check-arrival.ts';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';

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
