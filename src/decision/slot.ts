import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import { type Clock, type Deadline, createDeadline } from '../platform/clock.ts';
import { has } from '../platform/guard.ts';
import type { NoAd } from './no-ad.ts';
import {
  loadMedia,
  loadProvidedDecision,
  type AdRequestOptions,
  type ReadyAd,
  requestAd,
  type RequestAdDeps,
} from './request-ad.ts';

/** An ad request in flight. */
export interface InFlightRequest {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** The cached state of one placement. */
export interface Slot {
  /**
   * The preloaded ad. If it is no longer fresh, it is requested again before it is shown. `key` identifies its request
   * options.
   */
  ready?: ReadyAd & { key: string; freshness: Deadline };
  /** The last result without an ad, the segments that it applies to (as JSON), and its expiry. */
  noFill?: { noAd: NoAd; segments: string | undefined; end: Deadline };
  /** Requests in flight, keyed by the {@link createKey} result for their options. */
  inFlight: Map<string, InFlightRequest>;
}

/** Returns a cache key for request options. Options that lead to the same request have the same key. */
export const createKey = ({ customData, segments, withoutPageAds }: AdRequestOptions): string =>
  JSON.stringify([customData, segments, withoutPageAds]);

/** Returns the preloaded ad unless it has expired. */
export const findUnexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;

/** Returns the preloaded ad if it can be shown without another request. */
export const findFresh = (slot: Slot): Slot['ready'] => {
  const ready = findUnexpired(slot);
  return ready?.freshness.passed() ? undefined : ready;
};

/**
 * How long a preloaded ad counts as fresh, in milliseconds. After that, it is requested again, so that a kill switch
 * takes effect.
 */
const freshMs = 60_000;
/**
 * How long a result without an ad remains valid if the service did not specify a retry time, in milliseconds. Meanwhile,
 * no ad is offered, but calls still send requests.
 */
const noFillMs = 30_000;

/** Outcomes of transient failures. The next request may succeed, so they don’t discard a preloaded ad. */
const transientOutcomes = new Set<string>(['offline', 'timeout', 'aborted', 'error']);
/** Outcomes that say nothing about the placement: a lost connection affects all of them (`isReachable`). */
const unrecordedOutcomes = new Set<string>(['offline', 'aborted']);

/** The arguments for {@link fillSlot}. */
interface SlotRequest {
  placement: string;
  slot: Slot;
  options: AdRequestOptions;
  signal: AbortSignal;
  isCurrent(): boolean;
  /** A decision from the game's own server. */
  decision: Decision | undefined;
}

/**
 * Requests an ad, and stores the ad or the reason why there is none. If the slot was replaced while the request was in
 * flight, the ad was requested with stale options, so it is discarded.
 */
export async function fillSlot(
  deps: RequestAdDeps,
  { placement, slot, options, signal, isCurrent, decision }: SlotRequest,
): Promise<NoAd | undefined> {
  const { clock } = deps;
  const previous = findUnexpired(slot);
  let result = await (decision
    ? loadProvidedDecision(deps, placement, signal, decision)
    : requestAd(deps, { placement, options, signal, previous }));
  if (
    has(result, 'creative') &&
    result.creative === previous?.creative &&
    slot.ready !== previous
  ) {
    // The ad whose media would have been reused was shown or replaced while the request was in flight, so load the
    // media again.
    result = await loadMedia(deps, result.decision, result.expiry, signal);
  }
  if (!has(result, 'creative')) {
    // The game’s server can’t know whether this device’s own requests would fail.
    const isRecorded = !(decision && transientOutcomes.has(result.outcome));
    if (isCurrent() && isRecorded) recordNoAd(slot, result, clock, options);
    return result;
  }
  const key = createKey(options);
  // A decision from the game's server can't be requested again.
  const { player } = deps.profile();
  const isProvided = decision !== undefined;
  if (isCurrent())
    storeAd(slot, { ...result, key, player, isProvided }, clock, isProvided ? Infinity : freshMs);
  else result.creative.destroy();
  return undefined;
}

function storeAd(
  slot: Slot,
  ad: ReadyAd & { key: string },
  clock: Clock,
  freshnessMs: number,
): void {
  if (slot.ready && slot.ready.creative !== ad.creative) slot.ready.creative.destroy();
  delete slot.noFill;
  slot.ready = { ...ad, freshness: createDeadline(clock, freshnessMs) };
}

function recordNoAd(slot: Slot, noAd: NoAd, clock: Clock, { segments }: RequestOptions): void {
  const waitMs = noAd.retryAt && noAd.retryAt.getTime() - clock.now();
  if (unrecordedOutcomes.has(noAd.outcome)) return;
  // After a transient failure, keep a preloaded ad for the next attempt.
  if (!transientOutcomes.has(noAd.outcome) || waitMs !== undefined) {
    slot.ready?.creative.destroy();
    delete slot.ready;
  }
  const validMs = noAd.outcome === 'invalid_placement' ? Infinity : (waitMs ?? noFillMs);
  slot.noFill = { noAd, segments: JSON.stringify(segments), end: createDeadline(clock, validMs) };
}
