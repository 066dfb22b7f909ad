import type { RecordedEvent } from '../decision/decision-state.ts';

/*
 * The service knows only two bounds for certain: an ad was watched after its decision was issued and before its
 * completion was received. Rewards are denied only on the basis of these bounds. The times that the device reports are
 * more precise, but its clock may have been changed. If the reported times are implausible, the reward stays pending.
 */

/** The period in which an ad was watched, in Unix milliseconds. */
export interface AdView {
  issuedAtMs: number;
  /** When the period started and ended, as reported by the device. */
  fromMs: number;
  toMs: number;
  /** When the service received the completion. */
  receivedAtMs: number;
  /**
   * The time at which a request was received minus the time at which the device sent it: the clock skew plus the
   * network latency. An ad view uses the smallest offset among its requests.
   */
  offsetMs: number;
  /** How long the ad had to be watched. */
  requiredMs: number;
}

/** Fraction of the required time for which an ad must be watched. Below 1, because clocks and timers aren't exact. */
export const watchedShare = 0.95;
/** Maximum drift between a device's timers and its clock. */
const jitterMs = 2_000;

/** Returns the tolerance for comparing times. It is smaller for short ads. */
const toleranceMs = (requiredMs: number): number => Math.min(jitterMs, requiredMs / 4);

/** Returns the first event of the given type to arrive. Later events of that type are ignored. */
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
 * Returns the smallest offset among a decision's requests. In requests with a larger offset, the excess is network
 * latency.
 */
export const smallestOffset = (events: readonly RecordedEvent[]): number =>
  events.reduce((smallest, { offsetMs }) => Math.min(smallest, offsetMs), Infinity);

/**
 * Returns an event's time, corrected for the network latency of its request. If the corrected time is before
 * `notBeforeMs`, the device's clock was changed between two requests. In that case, returns the uncorrected time.
 *
 * @param offsetMs the offset of the fastest request
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
  // The duration can be longer than required, because the player may have paused the ad. It can't be shorter.
  const isUsable =
    byDevice !== undefined && byDevice >= requiredMs && byDevice <= toMs - issuedAtMs;
  const fromMs = Math.max(issuedAtMs, toMs - (isUsable ? byDevice : requiredMs));
  return { issuedAtMs, fromMs, toMs, receivedAtMs: complete.receivedAtMs, offsetMs, requiredMs };
}

/**
 * Returns the time between two events, as measured by the device's clock and by the service's clock. The latter assumes
 * that both requests had the same network latency. Returns undefined if either time was clamped.
 */
function computeDurations(
  from: RecordedEvent | undefined,
  to: RecordedEvent,
): { byDevice: number; byService: number } | undefined {
  if (!from || from.clamped || to.clamped) return undefined;
  const byService = to.occurredAtMs - from.occurredAtMs;
  return { byService, byDevice: byService - (to.offsetMs - from.offsetMs) };
}

/** The fraction of the ad that has played when each event fires. */
const shares = [
  ['first_quartile', 0.25],
  ['midpoint', 0.5],
  ['third_quartile', 0.75],
  ['complete', 1],
] as const;

/** Returns how long after its decision an event can occur at the earliest. */
export function minimumElapsedMs(type: RecordedEvent['type'], requiredMs: number): number {
  const [, share] = shares.find(([name]) => name === type) ?? [];
  if (share === undefined) return 0;
  // Quartile events have a tolerance, because video players fire them at irregular times.
  return requiredMs * watchedShare * share - (type === 'complete' ? 0 : toleranceMs(requiredMs));
}

/** Whether an event arrived before it could have occurred. Network delays can't cause this. */
export function isImpossible(
  decision: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
): boolean {
  return shares.some(([type]) => {
    const event = findFirst(events, type);
    return (
      event !== undefined &&
      event.receivedAtMs - decision.issuedAtMs < minimumElapsedMs(type, decision.requiredMs)
    );
  });
}

/**
 * Whether too little time passed between the ad's start and an event, according to both clocks. This doesn't prove
 * cheating, because the device's clock may have been changed, or a request may have been slow. Ignores negative
 * durations, which mean that the clock was changed.
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
 * Whether the times of a request's events are in an order that never occurs in real playback. If time goes backward
 * once, the device's clock may have been changed. If it goes backward twice, the events come from a script. Compares
 * only events from the same request, because requests can arrive out of order.
 */
export function isOutOfOrder(events: readonly RecordedEvent[], requiredMs: number): boolean {
  return orders.some((order) => {
    const orderedEvents = order.flatMap((type) => findFirst(events, type) ?? []);
    return orderedEvents.some((first) => {
      const times = orderedEvents
        .filter((event) => !event.clamped && isSameRequest(event, first))
        .map(({ occurredAtMs }) => occurredAtMs);
      const backwardSteps = times.filter(
        (time, index) => (times[index - 1] ?? time) - time > toleranceMs(requiredMs),
      );
      return backwardSteps.length > 1;
    });
  });
}

const isSameRequest = (a: RecordedEvent, b: RecordedEvent): boolean =>
  a.receivedAtMs === b.receivedAtMs && a.offsetMs === b.offsetMs;

/**
 * Whether the player didn't have enough time to watch all of the ads. This is the case if the ads that were both issued
 * and completed within some period have a total length greater than the period itself. Late events can't cause this if
 * the player watches the ads one after another.
 */
export function isOverbooked(adView: AdView, others: readonly AdView[]): boolean {
  const adViews = [...others, adView].toSorted((a, b) => a.receivedAtMs - b.receivedAtMs);
  return adViews.some(({ issuedAtMs: fromMs }) => {
    if (fromMs > adView.issuedAtMs) return false;
    let watchedMs = 0;
    return adViews.some(({ issuedAtMs, receivedAtMs, requiredMs }) => {
      if (issuedAtMs < fromMs) return false;
      watchedMs += requiredMs * watchedShare;
      return receivedAtMs >= adView.receivedAtMs && watchedMs > receivedAtMs - fromMs;
    });
  });
}

/**
 * Whether another ad was watched at the same time, according to the events. This doesn't prove cheating, because all
 * requests for one of the ads may have been slow. Returns false if the ads don't overlap according to the device's
 * clock.
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

/** Moves an ad view back in time, as if the offset of its fastest request were `offsetMs`. */
const withOffset = (adView: AdView, offsetMs: number): AdView => ({
  ...adView,
  fromMs: adView.fromMs - (adView.offsetMs - offsetMs),
  toMs: adView.toMs - (adView.offsetMs - offsetMs),
});

const fits = ({ toMs, issuedAtMs, requiredMs }: AdView): boolean =>
  toMs - issuedAtMs >= requiredMs * watchedShare;

/** Returns the latest possible start of an ad view without pauses. */
const latestStart = ({ fromMs, toMs, requiredMs }: AdView): number =>
  Math.max(fromMs, toMs - requiredMs);
