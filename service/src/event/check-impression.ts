import { showGraceMs } from './check-arrival.ts';
import type { DecisionState } from './decision-state.ts';
import type { RecordedEvent } from './recorded-event.ts';

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
  const times = events
    .filter(({ type }) => type === 'impression' || type === 'viewable')
    .filter(
      ({ visible, occurredAtMs, receivedAtMs }) =>
        occurredAtMs <= decision.expiresAtMs + showGraceMs &&
        visible !== undefined &&
        visible.ratio >= minimumRatio &&
        visible.ms >= minimumMs[decision.mediaFormat] &&
        receivedAtMs - decision.issuedAtMs >= minimumMs[decision.mediaFormat],
    )
    .map(({ occurredAtMs }) => occurredAtMs);
  return times.length === 0 ? undefined : Math.min(...times);
}
