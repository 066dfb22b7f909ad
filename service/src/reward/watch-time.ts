import type { RecordedEvent } from '../event/recorded-event.ts';

/*
 * Only the service's own times are certain: a watch lies between the moment when the ad was handed out and
 * the moment when its completion arrived. A denial rests on that alone, because a request can be in flight
 * for any time and a device's clock can be set at any moment. The device's reports place the watch more
 * precisely; where they contradict each other, proof is missing.
 */

/** A stretch of watching, in unix milliseconds. */
export interface Watch {
  issuedAtMs: number;
  /** When it was watched, according to the device's reports. */
  fromMs: number;
  toMs: number;
  /** When the completion reached the service. */
  byMs: number;
  /** Receipt minus sending of the fastest request about it: the skew of the device's clock plus the time in flight. */
  offsetMs: number;
  /** How long the ad had to be watched. */
  requiredMs: number;
}

/** Players' clocks and timers are not exact: 95 % counts as the whole. */
export const watchedShare = 0.95;
/** How much timers and clocks of one device may differ. */
const jitterMs = 2_000;

/** How far two times of one short ad may be off. */
export const toleranceMs = (requiredMs: number): number => Math.min(jitterMs, requiredMs / 4);

/** The first event of a type to arrive: what comes later cannot change what was said. */
export function firstOf(
  events: readonly RecordedEvent[],
  type: RecordedEvent['type'],
): RecordedEvent | undefined {
  let first: RecordedEvent | undefined;
  for (const event of events) {
    if (event.type === type && !(first && first.receivedAtMs <= event.receivedAtMs)) first = event;
  }
  return first;
}

/** The smallest offset among the requests about a decision: whatever exceeds it was time in flight. */
export const smallestOffset = (events: readonly RecordedEvent[]): number =>
  events.reduce((least, { offsetMs }) => Math.min(least, offsetMs), Infinity);

/**
 * When an event happened if its request had been as fast as the fastest one. Where that is before
 * `notBeforeMs`, the device's clock was set in between, and only the event's own request tells.
 */
export function placeEvent(event: RecordedEvent, offsetMs: number, notBeforeMs: number): number {
  const placedMs = event.occurredAtMs - event.offsetMs + offsetMs;
  return event.clamped || placedMs < notBeforeMs ? event.occurredAtMs : placedMs;
}

/** When an ad was watched, according to the reports. */
export function watchOf(
  { issuedAtMs, requiredMs }: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
  complete: RecordedEvent,
): Watch {
  const offsetMs = smallestOffset(events);
  const toMs = complete.clamped
    ? complete.receivedAtMs
    : placeEvent(complete, offsetMs, issuedAtMs + requiredMs * watchedShare);
  const { byDevice } = durations(firstOf(events, 'start'), complete) ?? {};
  // A pause makes it longer; less than the required time contradicts the completion.
  const usable = byDevice !== undefined && byDevice >= requiredMs && byDevice <= toMs - issuedAtMs;
  const fromMs = Math.max(issuedAtMs, toMs - (usable ? byDevice : requiredMs));
  return { issuedAtMs, fromMs, toMs, byMs: complete.receivedAtMs, offsetMs, requiredMs };
}

/**
 * The time between two events, by the device's clock and by the service's if both requests took the same
 * time; undefined where a time had to be clamped and so says nothing.
 */
function durations(
  from: RecordedEvent | undefined,
  to: RecordedEvent,
): { byDevice: number; byService: number } | undefined {
  if (!from || from.clamped || to.clamped) return undefined;
  const byService = to.occurredAtMs - from.occurredAtMs;
  return { byService, byDevice: byService - (to.offsetMs - from.offsetMs) };
}

/** The share of the ad that plays before each of these events. */
const shares = [
  ['first_quartile', 0.25],
  ['midpoint', 0.5],
  ['third_quartile', 0.75],
  ['complete', 1],
] as const;

/** Whether an event arrived before it can have happened: no network delivers a request early. */
export function isImpossible(
  decision: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
): boolean {
  const requiredMs = decision.requiredMs * watchedShare;
  return shares.some(([type, share]) => {
    const event = firstOf(events, type);
    // Video players fire quartiles unevenly, so these have some tolerance.
    const tolerance = type === 'complete' ? 0 : toleranceMs(decision.requiredMs);
    return (
      event !== undefined &&
      event.receivedAtMs - decision.issuedAtMs < requiredMs * share - tolerance
    );
  });
}

/**
 * Whether, by both clocks, less time passed since the start than the ad takes. That proves no cheating: a clock
 * may have been set, or a request slow. But nothing shows that the ad was watched, either. A negative duration
 * means that the clock was set, and says nothing.
 */
export function isContradicted(requiredMs: number, events: readonly RecordedEvent[]): boolean {
  const start = firstOf(events, 'start');
  return shares.some(([type, share]) => {
    const event = firstOf(events, type);
    const passed = event && durations(start, event);
    if (!passed) return false;
    const neededMs = requiredMs * watchedShare * share - toleranceMs(requiredMs);
    return passed.byDevice >= 0 && passed.byDevice < neededMs && passed.byService < neededMs;
  });
}

const orders: readonly (readonly RecordedEvent['type'][])[] = [
  ['start', 'first_quartile', 'midpoint', 'third_quartile', 'complete'],
  ['start', 'impression', 'complete'],
];

/**
 * Whether one request reports events in an order that no player produces. Requests overtake each other, so
 * only events that arrived together are compared. One step back in time is a clock that was set; two are a
 * script.
 */
export function isOutOfOrder(events: readonly RecordedEvent[], requiredMs: number): boolean {
  const requests = new Set(events.map(requestOf));
  return [...requests].some((request) =>
    orders.some((order) => {
      const times = order.flatMap((type) => {
        const event = firstOf(events, type);
        return event && !event.clamped && requestOf(event) === request ? event.occurredAtMs : [];
      });
      const stepsBack = times.filter(
        (time, index) => (times[index - 1] ?? time) - time > toleranceMs(requiredMs),
      );
      return stepsBack.length > 1;
    }),
  );
}

const requestOf = ({ receivedAtMs, offsetMs }: RecordedEvent): string =>
  `${receivedAtMs}/${offsetMs}`;

/**
 * Whether a user would have been rewarded for more than there was time for: in some period, the ads that were
 * handed out and completed within it last longer than the period. Watching one ad after the other never
 * results in that, however late reports arrive.
 */
export function isOverbooked(watch: Watch, others: readonly Watch[]): boolean {
  const all = [...others, watch].toSorted((a, b) => a.byMs - b.byMs);
  return all.some(({ issuedAtMs: fromMs }) => {
    if (fromMs > watch.issuedAtMs) return false;
    let watchedMs = 0;
    return all.some(({ issuedAtMs, byMs, requiredMs }) => {
      if (issuedAtMs < fromMs) return false;
      watchedMs += requiredMs * watchedShare;
      return byMs >= watch.byMs && watchedMs > byMs - fromMs;
    });
  });
}

/**
 * Whether, according to the reports, two ads were watched at once. That is no proof: all requests about one
 * may have been slow. If both fit one after the other by the clock of one device, they do not overlap.
 */
export function overlaps(watch: Watch, others: readonly Watch[]): boolean {
  return others.some((other) => {
    if (!isTogether(watch, other)) return false;
    const offsetMs = Math.min(watch.offsetMs, other.offsetMs);
    const [a, b] = [earlier(watch, offsetMs), earlier(other, offsetMs)];
    return !(fits(a) && fits(b)) || isTogether(a, b);
  });
}

const isTogether = (a: Watch, b: Watch): boolean =>
  Math.min(a.toMs, b.toMs) - Math.max(latestStart(a), latestStart(b)) > toleranceMs(a.requiredMs);

/** A watch, moved back by how much slower its fastest request was than that of another watch. */
const earlier = (watch: Watch, offsetMs: number): Watch => ({
  ...watch,
  fromMs: watch.fromMs - (watch.offsetMs - offsetMs),
  toMs: watch.toMs - (watch.offsetMs - offsetMs),
});

const fits = ({ toMs, issuedAtMs, requiredMs }: Watch): boolean =>
  toMs - issuedAtMs >= requiredMs * watchedShare;

/** An ad that was paused counts with its own length only. */
const latestStart = ({ fromMs, toMs, requiredMs }: Watch): number =>
  Math.max(fromMs, toMs - requiredMs);
