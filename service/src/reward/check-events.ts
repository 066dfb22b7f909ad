import type { EventResult } from '@trueward/protocol/wire';
import type { DecisionState, InvalidReason, RecordedEvent } from '../decision/decision-state.ts';
import { findFirst, isOutOfOrder, correctEventTime, smallestOffset } from './watch-time.ts';

/** Grace period after a decision expires, during which impressions are accepted for an ad that has already started. */
export const impressionGraceMs = 60_000;

/**
 * Returns the earliest time at which an event could have occurred, assuming that the device's clock isn't slow. The
 * entire offset may be request latency, for example if the device was asleep.
 */
export const computeEarliest = ({ occurredAtMs, offsetMs }: RecordedEvent): number =>
  occurredAtMs - Math.max(0, offsetMs);

/** Types of events that are billed or rewarded. */
const countedTypes: ReadonlySet<RecordedEvent['type']> = new Set([
  'impression',
  'viewable',
  'complete',
  'click',
  'source_callback',
]);

/**
 * Returns why an event is rejected, or undefined if it is accepted. Events are rejected if they are late, if their ad
 * has expired, if a kill switch stops the ad, or if the traffic is invalid. Only starts and impressions can be rejected
 * because the ad has expired.
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

/** Minimum visible fraction and duration of a viewable impression (MRC/IAB: 50% for 1 s, or 2 s for video). */
const minimumRatio = 0.5;
const minimumMs = {
  video: 2_000,
  image: 1_000,
  html: 1_000,
  // Nobody sees what an ad SDK in the page shows.
  page: Infinity,
} as const;

/** Returns how long an ad must be visible for a viewable impression. */
export const minimumImpressionMs = ({ mediaFormat }: Pick<DecisionState, 'mediaFormat'>): number =>
  minimumMs[mediaFormat];

/** Whether an event reports a viewable impression. */
export const impressionEvidence = (
  decision: Pick<DecisionState, 'mediaFormat'>,
  { type, visible }: RecordedEvent,
): boolean =>
  (type === 'impression' || type === 'viewable') &&
  visible !== undefined &&
  visible.ratio >= minimumRatio &&
  visible.ms >= minimumImpressionMs(decision);

/**
 * Returns the time of the verified impression in Unix milliseconds, or undefined if there is none. The evidence is an
 * `impression` or `viewable` event. The time between the decision and the event's arrival, measured by the service's
 * clock, must be long enough for a viewable impression.
 */
export function checkImpression(
  decision: Pick<DecisionState, 'mediaFormat' | 'issuedAtMs' | 'expiresAtMs'>,
  events: readonly RecordedEvent[],
): number | undefined {
  const minimum = minimumImpressionMs(decision);
  const offsetMs = smallestOffset(events);
  const times = events
    .filter(
      (event) =>
        impressionEvidence(decision, event) &&
        computeEarliest(event) <= decision.expiresAtMs + impressionGraceMs &&
        event.receivedAtMs - decision.issuedAtMs >= minimum,
    )
    .map((event) => correctEventTime(event, offsetMs, decision.issuedAtMs + minimum));
  // If all requests were delayed, the corrected time can be later than the deadline even though the impression was on
  // time.
  return times.length === 0
    ? undefined
    : Math.min(...times, decision.expiresAtMs + impressionGraceMs);
}

/** How long an ad of an ad SDK in the page may take. The SDK then ends it. */
const pageAdMs = 300_000;

/**
 * Returns when an ad SDK in the page began to show its ad, as the client reports it, in Unix milliseconds. If it reports
 * nothing, the time of the network's callback counts. Undefined if the ad was not shown before it expired.
 */
export function findPageAd(
  { issuedAtMs, expiresAtMs }: Pick<DecisionState, 'issuedAtMs' | 'expiresAtMs'>,
  events: readonly RecordedEvent[],
  callback?: RecordedEvent,
): number | undefined {
  const lastMs = expiresAtMs + impressionGraceMs;
  // A start that is too late has been rejected. Some ad SDKs don't say when an ad begins.
  const timely = events.filter((event) => computeEarliest(event) <= lastMs + pageAdMs);
  const first = findFirst(timely, 'start') ?? findFirst(timely, 'complete');
  // The network knows what it has shown, and its call may be late.
  const atMs = first
    ? correctEventTime(first, smallestOffset(events), issuedAtMs)
    : callback?.receivedAtMs;
  // The ad can't have begun later.
  return atMs === undefined ? undefined : Math.min(atMs, lastMs);
}

/**
 * Returns why the events can't have come from a real player, or undefined if they could have.
 *
 * The number of ad requests is not considered. Anyone with the publishable key can request ads for any player, and
 * banners below the fold are never seen.
 */
export const checkTraffic = (
  requiredMs: number | null,
  events: readonly RecordedEvent[],
): InvalidReason | undefined =>
  isOutOfOrder(events, requiredMs ?? 0) ? 'impossible_order' : undefined;
