import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability } from '../outcome.ts';
import { type Clock, type Deadline, createDeadline } from '../platform/clock.ts';
import { copyOwn, has } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';
import type { PageLifecycle } from '../platform/page.ts';
import {
  type ReadyAd,
  loadProvidedDecision,
  loadMedia,
  requestAd,
  type RequestAdDeps,
} from './request-ad.ts';
import type { NoAd } from './no-ad.ts';

/** Preloads and caches ads. Identical concurrent calls for a placement share one request to the service. */
export interface Decisions {
  /**
   * Returns the ad that was preloaded with the same options, or requests a new one. Never rejects. If `signal` aborts,
   * resolves with the outcome `aborted`.
   */
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  /** Loads an ad, so that `take` does not wait. By default, requests a new decision. */
  preload(
    placement: string,
    signal: AbortSignal,
    options?: RequestOptions & { decision?: Decision; format?: Decision['format'] },
  ): Promise<Availability>;
  /** Whether an ad may be offered, as far as this device knows. Doesn’t send a request. */
  availability(placement: string, options?: RequestOptions): Availability;
  /** Whether `take` would return a preloaded ad without sending a request. */
  isLoaded(placement: string, options?: RequestOptions): boolean;
  /** Discards preloaded ads and no-fills. Call it when the request options have changed. */
  forget(): void;
  /** Aborts requests in flight and destroys preloaded ads. */
  destroy(): void;
}

export interface DecisionsDeps extends RequestAdDeps {
  /** Whether consent is known. Until then, no requests are made. */
  isConsentKnown(): boolean;
  /** Whether a request may reach the service, as far as this device knows. */
  isReachable(): boolean;
  /**
   * Called when a result without an ad has expired, or a preloaded ad is no longer fresh: `availability()` or
   * `isLoaded()` may now return a different result.
   */
  onChange(): void;
  lifecycle: Pick<PageLifecycle, 'onTransition'>;
}

/**
 * Maximum time between two checks for expired ads and no-fills, in milliseconds. Timers stop while the device sleeps, so there
 * is also a check when the player returns.
 */
const maxCheckIntervalMs = 30_000;

const notReady: NoAd = { outcome: 'not_ready', reason: 'consent_unknown' };

/** An ad request in flight. */
interface InFlightRequest {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** The cached state of one placement. */
interface Slot {
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

/** Copies request options, so that nothing is taken for one that the page has added to every object. */
const copyOptions = <Options extends RequestOptions>(options?: Options): Partial<Options> =>
  copyOwn(options) as Partial<Options>;

/** Returns a cache key for request options. Options that lead to the same request have the same key. */
const createKey = ({ customData, segments }: RequestOptions): string =>
  JSON.stringify([customData, segments]);

/** Returns the preloaded ad unless it has expired. */
const findUnexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;

/** Returns the preloaded ad if it can be shown without another request. */
const findFresh = (slot: Slot): Slot['ready'] => {
  const ready = findUnexpired(slot);
  return ready?.freshness.passed() ? undefined : ready;
};

/** Returns the times at which the placement’s state changes by itself. */
const findDeadlines = (slot: Slot): Deadline[] => {
  const ready = findFresh(slot);
  const deadlines = slot.noFill ? [slot.noFill.end] : [];
  if (ready) deadlines.push(ready.expiry, ready.freshness);
  return deadlines.filter((deadline) => !deadline.passed());
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

/** One call that needs an ad. */
interface Call {
  placement: string;
  signal: AbortSignal;
  options: RequestOptions;
  /** A decision from the game's own server. */
  decision: Decision | undefined;
}

/** Creates the cache for decisions and their media. */
export function createDecisions(deps: DecisionsDeps): Decisions {
  const { clock } = deps;
  const slots = new Map<string, Slot>();
  let destroyed = false;
  let nextExpiry: Deadline | undefined;
  let cancelCheck: (() => void) | undefined;

  const getOrCreateSlot = (placement: string): Slot => {
    const slot = slots.get(placement) ?? { inFlight: new Map() };
    slots.set(placement, slot);
    return slot;
  };
  const isReady = (slot: Slot, options: RequestOptions): boolean =>
    findFresh(slot)?.key === createKey(options);

  const forget = (placement: string): void => {
    slots.get(placement)?.ready?.creative.destroy();
    slots.delete(placement);
  };

  /** Schedules a check at the time when the next ad or no-fill expires. */
  const scheduleCheck = (): void => {
    cancelCheck?.();
    nextExpiry = Array.from(slots.values())
      .flatMap(findDeadlines)
      .sort((a, b) => a.leftMs() - b.leftMs())[0];
    if (!nextExpiry || nextExpiry.leftMs() === Infinity) return;
    // The delay is rounded up, because browsers truncate it to whole milliseconds.
    cancelCheck = clock.after(
      Math.min(Math.ceil(nextExpiry.leftMs()), maxCheckIntervalMs),
      checkDeadlines,
    );
  };
  const checkDeadlines = (): void => {
    const changed = nextExpiry?.passed();
    scheduleCheck();
    if (changed) deps.onChange();
  };
  const stopListening = deps.lifecycle.onTransition((pageTransition) => {
    if (pageTransition === 'visible' || pageTransition === 'returned') checkDeadlines();
  });

  const forgetAll = (): void => {
    Array.from(slots.keys()).forEach(forget);
    nextExpiry = undefined;
    cancelCheck?.();
  };

  /** Returns the last result without an ad if it has not expired. */
  const findCachedNoAd = (slot: Slot, { segments }: RequestOptions): NoAd | undefined => {
    const { noFill } = slot;
    if (!noFill || noFill.end.passed()) return undefined;
    // Policies may depend on segments, but never on custom data.
    if (noFill.segments !== JSON.stringify(segments)) return undefined;
    return noFill.noAd;
  };
  const isDefinitive = ({ outcome, retryAt }: NoAd): boolean =>
    retryAt !== undefined || outcome === 'invalid_placement';

  const startRequest = ({ placement, options, decision }: Call, slot: Slot): InFlightRequest => {
    const abort = new AbortController();
    const key = createKey(options);
    const fillResult = fillSlot(deps, {
      placement,
      slot,
      options,
      signal: abort.signal,
      isCurrent: () => slots.get(placement) === slot,
      decision,
    });
    const done = fillResult.finally(() => {
      if (slot.inFlight.get(key) === request) slot.inFlight.delete(key);
      if (!destroyed) scheduleCheck();
    });
    const request: InFlightRequest = { done, waiters: 0, abort };
    slot.inFlight.set(key, request);
    return request;
  };

  /**
   * Coalesces calls with the same placement and options into one request. The request is aborted when all of its
   * callers have aborted.
   */
  const joinRequest = (call: Call, slot: Slot): Promise<NoAd | undefined> =>
    new Promise((resolve) => {
      const { options, signal } = call;
      const key = createKey(options);
      const request = slot.inFlight.get(key) ?? startRequest(call, slot);
      request.waiters += 1;
      const onAbort = (): void => {
        request.waiters -= 1;
        if (request.waiters === 0) {
          request.abort.abort();
          if (slot.inFlight.get(key) === request) slot.inFlight.delete(key);
        }
        resolve({ outcome: 'aborted' });
      };
      const stopAbort = listen(signal, 'abort', onAbort, { once: true });
      void request.done.then((noAd) => {
        stopAbort();
        resolve(noAd);
      });
    });

  /**
   * Ensures that a fresh ad is loaded. If that fails, returns the reason. If the request options change in the
   * meantime, starts over: the result would be for the previous player or consent.
   */
  const ensureReady = async (call: Call): Promise<NoAd | undefined> => {
    const { placement, signal, options, decision } = call;
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    if (!deps.isConsentKnown()) return notReady;
    // A decision from the game's server replaces the ad that is loaded or being requested.
    if (decision) forget(placement);
    const slot = getOrCreateSlot(placement);
    if (isReady(slot, options)) return undefined;
    const cached = findCachedNoAd(slot, options);
    const noAd = cached && isDefinitive(cached) ? cached : await joinRequest(call, slot);
    const isOutdated = slots.get(placement) !== slot && !decision && !signal.aborted;
    return isOutdated ? ensureReady(call) : noAd;
  };

  const take: Decisions['take'] = async (placement, signal, given) => {
    const options = copyOptions(given);
    const noAd = await ensureReady({ placement, signal, options, decision: undefined });
    if (noAd) return noAd;
    const slot = getOrCreateSlot(placement);
    // By now, another caller may have taken or replaced the ad, or it may have expired while the device slept.
    const ready = findUnexpired(slot);
    if (ready?.key !== createKey(options)) return take(placement, signal, options);
    delete slot.ready;
    scheduleCheck();
    return ready;
  };

  const availability = (placement: string, given?: RequestOptions): Availability => {
    const options = copyOptions(given);
    if (destroyed) return toUnavailable({ outcome: 'aborted', reason: 'destroyed' });
    if (!deps.isConsentKnown()) return toUnavailable(notReady);
    const slot = getOrCreateSlot(placement);
    if (isReady(slot, options)) return { available: true };
    const noAd = findCachedNoAd(slot, options);
    if (noAd) return toUnavailable(noAd);
    return deps.isReachable()
      ? { available: true }
      : toUnavailable({ outcome: 'offline', reason: 'network' });
  };

  return {
    take,
    async preload(placement, signal, given) {
      const options = copyOptions(given);
      const { decision, format } = options;
      const noAd = await ensureReady({ placement, signal, options, decision });
      if (noAd) return toUnavailable(noAd);
      const { ready } = getOrCreateSlot(placement);
      return format && ready && ready.decision.format !== format
        ? toUnavailable({ outcome: 'invalid_placement', reason: 'wrong_format' })
        : availability(placement, options);
    },
    availability,
    isLoaded: (placement, options) =>
      !destroyed &&
      deps.isConsentKnown() &&
      isReady(getOrCreateSlot(placement), copyOptions(options)),
    forget: forgetAll,
    destroy() {
      destroyed = true;
      stopListening();
      for (const { inFlight } of slots.values()) {
        for (const { abort } of inFlight.values()) abort.abort();
      }
      forgetAll();
    },
  };
}

const toUnavailable = ({ outcome, reason, retryAt }: NoAd): Availability => ({
  available: false,
  outcome,
  ...(reason && { reason }),
  ...(retryAt && { retryAt }),
});

/** The arguments for {@link fillSlot}. */
interface SlotRequest {
  placement: string;
  slot: Slot;
  options: RequestOptions;
  signal: AbortSignal;
  isCurrent(): boolean;
  /** A decision from the game's own server. */
  decision: Decision | undefined;
}

/**
 * Requests an ad, and stores the ad or the reason why there is none. If the slot was replaced while the request was in
 * flight, the ad was requested with stale options, so it is discarded.
 */
async function fillSlot(
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
  if (isCurrent()) storeAd(slot, { ...result, key, player }, clock, decision ? Infinity : freshMs);
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
