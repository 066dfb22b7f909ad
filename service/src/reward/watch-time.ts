import type { RecordedEvent } from '../decision/decision-state.ts';

/*
 * Only the service's own times are certain: an ad was watched after its decision was issued and before its completion
 * was received. Denials rely only on these times, because a request can take any length of time to arrive, and a
 * device's clock can be changed at any moment. The device's times are more precise, but if they contradict each other,
 * they count as missing evidence.
 */

/** The period in which an ad was watched, in Unix milliseconds. */
export interface AdView {
  issuedAtMs: number;
  /** The start and the end of the period, according to the device. */
  fromMs: number;
  toMs: number;
  /** When the service received the completion. */
  byMs: number;
  /**
   * For the fastest request, the time it was received minus the time it was sent: the device's clock skew plus the
   * network latency.
   */
  offsetMs: number;
  /** How long the ad had to be watched. */
  requiredMs: number;
}

/** Watching for this share of the required time is enough, because players' clocks and timers aren't exact. */
export const watchedShare = 0.95;
/** A device's timers and its clock can differ by up to this much. */
const jitterMs = 2_000;

/** Returns the tolerance for comparing two times of an ad. Short ads have a smaller tolerance. */
const toleranceMs = (requiredMs: number): number => Math.min(jitterMs, requiredMs / 4);

/** Returns the event of this type that arrived first, because later events must not override it. */
export function findFirst(
  events: readonly RecordedEvent[],
  type: RecordedEvent['type'],
): RecordedEvent | undefined {
  let first: RecordedEvent | undefined;
  for (const event of events) {
    if (event.type === type && !(first && first.receivedAtMs <= event.receivedAtMs)) first = event;
  }
  return first;
}

/**
 * Returns the smallest offset of a decision's requests. If a request has a larger offset, the difference is network
 * latency.
 */
export const smallestOffset = (events: readonly RecordedEvent[]): number =>
  events.reduce((smallest, { offsetMs }) => Math.min(smallest, offsetMs), Infinity);

/**
 * Returns the time at which an event would have occurred if its request had been as fast as the fastest one. If that is
 * before `notBeforeMs`, the device's clock was changed between the two requests, so the uncorrected time is returned.
 */
export function correctEventTime(
  event: RecordedEvent,
  offsetMs: number,
  notBeforeMs: number,
): number {
  const correctedMs = event.occurredAtMs - event.offsetMs + offsetMs;
  return event.clamped || correctedMs < notBeforeMs ? event.occurredAtMs : correctedMs;
}

/** Derives the period in which an ad was watched from its events. */
export function deriveAdView(
  { issuedAtMs, requiredMs }: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
  complete: RecordedEvent,
): AdView {
  const offsetMs = smallestOffset(events);
  const toMs = complete.clamped
    ? complete.receivedAtMs
    : correctEventTime(complete, offsetMs, issuedAtMs + requiredMs * watchedShare);
  const { byDevice } = computeDurations(findFirst(events, 'start'), complete) ?? {};
  // If the player paused the ad, the duration is longer than required. A duration that is too short contradicts the
  // completion.
  const isUsable =
    byDevice !== undefined && byDevice >= requiredMs && byDevice <= toMs - issuedAtMs;
  const fromMs = Math.max(issuedAtMs, toMs - (isUsable ? byDevice : requiredMs));
  return { issuedAtMs, fromMs, toMs, byMs: complete.receivedAtMs, offsetMs, requiredMs };
}

/**
 * Returns the time between two events, both by the device's clock and by the service's clock, which assumes that both
 * requests were equally fast. Returns undefined if either time was clamped, because the difference is then meaningless.
 */
function computeDurations(
  from: RecordedEvent | undefined,
  to: RecordedEvent,
): { byDevice: number; byService: number } | undefined {
  if (!from || from.clamped || to.clamped) return undefined;
  const byService = to.occurredAtMs - from.occurredAtMs;
  return { byService, byDevice: byService - (to.offsetMs - from.offsetMs) };
}

/** How much of the ad has been played when each event occurs. */
const shares = [
  ['first_quartile', 0.25],
  ['midpoint', 0.5],
  ['third_quartile', 0.75],
  ['complete', 1],
] as const;

/** Whether an event arrived before it can have occurred. A network delay can't cause this. */
export function isImpossible(
  decision: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
): boolean {
  const requiredMs = decision.requiredMs * watchedShare;
  return shares.some(([type, share]) => {
    const event = findFirst(events, type);
    // Video players fire quartile events unevenly, so some tolerance applies to these events.
    const tolerance = type === 'complete' ? 0 : toleranceMs(decision.requiredMs);
    return (
      event !== undefined &&
      event.receivedAtMs - decision.issuedAtMs < requiredMs * share - tolerance
    );
  });
}

/**
 * Whether too little time has passed since the ad started, according to both clocks. This doesn't prove cheating,
 * because a clock may have been changed or a request may have been slow. But it doesn't prove that the ad was watched
 * either. Negative durations are ignored, because they mean that the clock was changed.
 */
export function isContradicted(requiredMs: number, events: readonly RecordedEvent[]): boolean {
  const start = findFirst(events, 'start');
  return shares.some(([type, share]) => {
    const event = findFirst(events, type);
    const elapsed = event && computeDurations(start, event);
    if (!elapsed) return false;
    const minimumMs = requiredMs * watchedShare * share - toleranceMs(requiredMs);
    return elapsed.byDevice >= 0 && elapsed.byDevice < minimumMs && elapsed.byService < minimumMs;
  });
}

const orders: readonly (readonly RecordedEvent['type'][])[] = [
  ['start', 'first_quartile', 'midpoint', 'third_quartile', 'complete'],
  ['start', 'impression', 'complete'],
];

/**
 * Whether a request reports events in an order that never occurs when an ad is really played. Only events in the same
 * request are compared, because one request can overtake another. If time goes backward once, the device's clock may
 * have been changed. If it goes backward twice, the events come from a script.
 */
export function isOutOfOrder(events: readonly RecordedEvent[], requiredMs: number): boolean {
  return orders.some((order) => {
    const ordered = order.flatMap((type) => findFirst(events, type) ?? []);
    return ordered.some((first) => {
      const times = ordered
        .filter((event) => !event.clamped && isSameRequest(event, first))
        .map(({ occurredAtMs }) => occurredAtMs);
      const backwardSteps = times.filter(
        (time, index) => (times[index - 1] ?? time) - time > toleranceMs(requiredMs),
      );
      return backwardSteps.length > 1;
    });
  });
}

const isSameRequest = (one: RecordedEvent, other: RecordedEvent): boolean =>
  one.receivedAtMs === other.receivedAtMs && one.offsetMs === other.offsetMs;

/**
 * Whether the player can't have had enough time to watch all of the rewarded ads: the ads that were issued and
 * completed within some period are longer in total than that period. A player who watches ads one after another never
 * causes this, no matter how late the events arrive.
 */
export function isOverbooked(adView: AdView, others: readonly AdView[]): boolean {
  const all = [...others, adView].toSorted((a, b) => a.byMs - b.byMs);
  return all.some(({ issuedAtMs: fromMs }) => {
    if (fromMs > adView.issuedAtMs) return false;
    let watchedMs = 0;
    return all.some(({ issuedAtMs, byMs, requiredMs }) => {
      if (issuedAtMs < fromMs) return false;
      watchedMs += requiredMs * watchedShare;
      return byMs >= adView.byMs && watchedMs > byMs - fromMs;
    });
  });
}

/**
 * Whether the events say that another ad was watched at the same time. This doesn't prove cheating, because all of the
 * requests for one ad may have been slow. If the ads don't overlap by the device's clock, they count as watched one
 * after the other.
 */
export function overlaps(adView: AdView, others: readonly AdView[]): boolean {
  return others.some((other) => {
    if (!isConcurrent(adView, other)) return false;
    const offsetMs = Math.min(adView.offsetMs, other.offsetMs);
    const [a, b] = [withOffset(adView, offsetMs), withOffset(other, offsetMs)];
    return !(fits(a) && fits(b)) || isConcurrent(a, b);
  });
}

const isConcurrent = (a: AdView, b: AdView): boolean =>
  Math.min(a.toMs, b.toMs) - Math.max(latestStart(a), latestStart(b)) > toleranceMs(a.requiredMs);

/** Moves an ad view back in time, to when it would have been if its fastest request had had the given offset. */
const withOffset = (adView: AdView, offsetMs: number): AdView => ({
  ...adView,
  fromMs: adView.fromMs - (adView.offsetMs - offsetMs),
  toMs: adView.toMs - (adView.offsetMs - offsetMs),
});

const fits = ({ toMs, issuedAtMs, requiredMs }: AdView): boolean =>
  toMs - issuedAtMs >= requiredMs * watchedShare;

/** The latest time at which the ad view can have started, ignoring pauses. */
const latestStart = ({ fromMs, toMs, requiredMs }: AdView): number =>
  Math.max(fromMs, toMs - requiredMs);
