import type { RecordedEvent } from '../event/recorded-event.ts';

/** A stretch of watching, in unix milliseconds. */
export interface Watch {
  fromMs: number;
  toMs: number;
  /** How long the ad had to be watched. */
  requiredMs: number;
}

/** Players' clocks and timers are not exact: 95 % counts as the whole. */
export const watchedShare = 0.95;
/** Start and completion reach the service by ways of different length. */
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

/**
 * From when to when an ad was watched. Without a `start`, it began no later than it was seen. Two
 * requests of one device can take very different times: a slow one only makes things look later, so
 * the earlier place is the true one. It cannot lie further back than the decision.
 */
export function watchOf(
  decision: { issuedAtMs: number; requiredMs: number },
  events: readonly RecordedEvent[],
  complete: RecordedEvent,
  servedAtMs: number | undefined,
): Watch {
  const { issuedAtMs, requiredMs } = decision;
  // A time that had to be clamped tells nothing: the device's clock was set between the two.
  const endMs = complete.clamped ? complete.receivedAtMs : complete.occurredAtMs;
  const start = firstOf(events, 'start');
  if (!start || start.clamped || complete.clamped) {
    const statedMs = endMs - (complete.watchedMs ?? 0);
    const fromMs = Math.max(issuedAtMs, Math.min(statedMs, servedAtMs ?? statedMs));
    return { fromMs, toMs: endMs, requiredMs };
  }
  const durationMs = durationOf(start, complete, requiredMs);
  const fromMs = Math.max(issuedAtMs, Math.min(start.occurredAtMs, endMs - durationMs));
  return { fromMs, toMs: Math.min(endMs, fromMs + durationMs), requiredMs };
}

/**
 * By the device's clock where the service's says no less: a slow completion does not make the watch
 * longer, and a page that is run at 16 times its speed does not make it long enough.
 */
function durationOf(start: RecordedEvent, complete: RecordedEvent, requiredMs: number): number {
  const byService = complete.occurredAtMs - start.occurredAtMs;
  const byDevice = byService - (complete.offsetMs - start.offsetMs);
  const usable =
    byDevice >= requiredMs * watchedShare && byDevice <= byService + toleranceMs(requiredMs);
  return usable ? byDevice : byService;
}

const quartiles = [
  ['first_quartile', 0.25],
  ['midpoint', 0.5],
  ['third_quartile', 0.75],
] as const;

/** Whether a quartile came sooner after the decision, or after the beginning, than the ad can play. */
export function isTooFast(
  issuedAtMs: number,
  watch: Watch,
  events: readonly RecordedEvent[],
): boolean {
  const requiredMs = watch.requiredMs * watchedShare;
  const tolerance = toleranceMs(watch.requiredMs);
  if (watch.toMs - watch.fromMs < requiredMs - tolerance) return true;
  return quartiles.some(([type, share]) => {
    const event = firstOf(events, type);
    if (!event || event.clamped) return false;
    const neededMs = requiredMs * share;
    return (
      event.receivedAtMs - issuedAtMs < neededMs - tolerance ||
      event.occurredAtMs - watch.fromMs < neededMs - 2 * tolerance
    );
  });
}

/** Whether things are said to have happened in an order in which no player makes them happen. */
export function isOutOfOrder(events: readonly RecordedEvent[], requiredMs: number): boolean {
  const order = ['start', ...quartiles.map(([type]) => type), 'complete'] as const;
  const times = order.flatMap((type) => {
    const event = firstOf(events, type);
    return event && !event.clamped ? event.occurredAtMs : [];
  });
  return times.some((time, index) =>
    times.slice(0, index).some((before) => before - time > toleranceMs(requiredMs)),
  );
}

/**
 * Whether one user would have watched more than there was time for: two at once, or in any stretch
 * more than the stretch is long. The second closes what tolerances of single ads would add up to.
 */
export function isOverbooked(watch: Watch, others: readonly Watch[]): boolean {
  const tolerance = toleranceMs(watch.requiredMs);
  const overlapMs = (other: Watch): number =>
    Math.min(other.toMs, watch.toMs) - Math.max(other.fromMs, watch.fromMs);
  if (others.some((other) => overlapMs(other) > tolerance)) return true;
  const all = [...others, watch].map((each) => ({ ...each, fromMs: latestStart(each) }));
  return all.some(({ fromMs }) =>
    all.some(({ toMs }) => {
      if (fromMs > latestStart(watch) || toMs < watch.toMs) return false;
      const inside = all.filter((each) => each.fromMs >= fromMs && each.toMs <= toMs);
      const watchedMs = inside.reduce((sum, each) => sum + each.requiredMs * watchedShare, 0);
      return watchedMs > toMs - fromMs + tolerance;
    }),
  );
}

/** An ad that was paused counts with its own length only. */
const latestStart = ({ fromMs, toMs, requiredMs }: Watch): number =>
  Math.max(fromMs, toMs - requiredMs);
