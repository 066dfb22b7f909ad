import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability } from '../outcome.ts';
import { type Clock, type Deadline, deadlineIn } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page.ts';
import {
  type ReadyAd,
  loadProvided,
  loadMedia,
  requestAd,
  type RequestAdDeps,
} from './request-ad.ts';
import type { NoAd } from './no-ad.ts';

/** Preloads and caches ads. Identical requests for a placement share one request to the service. */
export interface Decisions {
  /**
   * Returns the ad that was preloaded with the same options, or requests a new one. Never rejects: if `signal` aborts,
   * the result is an outcome too.
   */
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  /** Loads the ad of `decision` or, by default, of a new decision, so that `take` does not wait. */
  preload(
    placement: string,
    signal: AbortSignal,
    options?: RequestOptions & { decision?: Decision },
  ): Promise<Availability>;
  /** Whether an ad may be available, as far as this device knows. Makes no request. */
  availability(placement: string): Availability;
  /** Drops preloaded ads and no-fills, because the request options have changed. */
  forget(): void;
  /** Aborts requests in flight and destroys preloaded ads. */
  destroy(): void;
}

export interface DecisionsDeps extends RequestAdDeps {
  /** Whether consent is known. No requests are made before that. */
  isKnown(): boolean;
  /**
   * If the code that reads the page’s consent failed to load, tries to load it again. Returns whether it had failed.
   */
  retryConsent(): boolean;
  /** Called when a no-fill has expired: the result of `availability()` may have changed. */
  onChange(): void;
  lifecycle: Pick<PageLifecycle, 'onTransition'>;
}

/**
 * Maximum time between two checks for expired no-fills, in milliseconds. Timers stop while the device sleeps, so
 * expiry is also checked whenever the player returns.
 */
const maxCheckIntervalMs = 30_000;

const notReady: NoAd = { outcome: 'not_ready', reason: 'consent_unknown' };
const notLoaded: NoAd = { outcome: 'error', reason: 'chunk_not_loaded' };

/** A request for an ad that is in flight. */
interface InFlightRequest {
  done: Promise<NoAd | undefined>;
  waiters: number;
  abort: AbortController;
}

/** The state of one placement. */
interface Slot {
  /**
   * A preloaded ad. Once it is no longer fresh, it is requested again before it is shown. `key` identifies its request
   * options.
   */
  ready?: ReadyAd & { key: string; freshness: Deadline };
  /** The last no-fill: its reason, the segments it applies to (as JSON), and when it expires. */
  noFill?: { noAd: NoAd; segments: string | undefined; end: Deadline };
  /** Keyed by {@link createKey} of their options. */
  inFlight: Map<string, InFlightRequest>;
}

/** Returns the key of request options, which is the same for all options that result in the same request. */
const createKey = ({ customData, segments }: RequestOptions): string =>
  JSON.stringify([customData, segments]);

/** Returns the preloaded ad unless it has expired. */
const findUnexpired = ({ ready }: Slot): Slot['ready'] =>
  ready?.expiry.passed() ? undefined : ready;

/**
 * How long a preloaded ad counts as fresh, in milliseconds. After that, it is requested again, so that a kill switch
 * takes effect.
 */
const freshMs = 60_000;
/** How long a no-fill is valid if the service did not specify a retry time, in milliseconds. */
const noFillMs = 30_000;

/** Outcomes that are transient failures, after which the next request may succeed. */
const transient = new Set<string>(['offline', 'timeout', 'ad_blocked', 'aborted', 'error']);

/** One call that needs an ad. */
interface Call {
  placement: string;
  signal: AbortSignal;
  options: RequestOptions;
  /** A decision that the game's own server obtained. */
  provided?: Decision | undefined;
}

/** Creates the cache of decisions and their media. */
export function createDecisions(deps: DecisionsDeps): Decisions {
  const { clock } = deps;
  const slots = new Map<string, Slot>();
  let destroyed = false;
  let nextExpiry: Deadline | undefined;
  let cancelCheck: (() => void) | undefined;

  const openSlot = (placement: string): Slot => {
    const slot = slots.get(placement) ?? { inFlight: new Map() };
    slots.set(placement, slot);
    return slot;
  };
  const isFresh = (slot: Slot): boolean => findUnexpired(slot)?.freshness.passed() === false;

  const forget = (placement: string): void => {
    slots.get(placement)?.ready?.creative.destroy();
    slots.delete(placement);
  };

  /** Schedules a check for the earliest expiry of a no-fill. */
  const scheduleCheck = (): void => {
    cancelCheck?.();
    nextExpiry = Array.from(slots.values())
      .flatMap(({ noFill }) => (noFill && !noFill.end.passed() ? [noFill.end] : []))
      .sort((a, b) => a.leftMs() - b.leftMs())[0];
    if (!nextExpiry || nextExpiry.leftMs() === Infinity) return;
    // Rounded up, because browsers drop fractions of a millisecond.
    cancelCheck = clock.after(
      Math.min(Math.ceil(nextExpiry.leftMs()), maxCheckIntervalMs),
      checkNoFills,
    );
  };
  const checkNoFills = (): void => {
    const changed = nextExpiry?.passed();
    scheduleCheck();
    if (changed) deps.onChange();
  };
  const stopListening = deps.lifecycle.onTransition((pageTransition) => {
    if (pageTransition === 'visible' || pageTransition === 'returned') checkNoFills();
  });

  const forgetAll = (): void => {
    Array.from(slots.keys()).forEach(forget);
    nextExpiry = undefined;
    cancelCheck?.();
  };

  /** Returns the last no-fill if it has not expired and the service specified how long it lasts. */
  const cachedNoAd = (slot: Slot, { segments }: RequestOptions): NoAd | undefined => {
    const { noFill } = slot;
    if (!noFill || noFill.end.passed()) return undefined;
    // Policies may depend on segments, but custom data is only passed through.
    if (noFill.segments !== JSON.stringify(segments)) return undefined;
    const isDefinitive = noFill.noAd.retryAt || noFill.end.leftMs() === Infinity;
    return isDefinitive ? noFill.noAd : undefined;
  };

  const startRequest = ({ placement, options, provided }: Call, slot: Slot): InFlightRequest => {
    const abort = new AbortController();
    const key = createKey(options);
    const filled = fillSlot(deps, {
      placement,
      slot,
      options,
      signal: abort.signal,
      isCurrent: () => slots.get(placement) === slot,
      provided,
    });
    const done = filled.finally(() => {
      if (slot.inFlight.get(key) === request) slot.inFlight.delete(key);
      if (!destroyed) scheduleCheck();
    });
    const request: InFlightRequest = { done, waiters: 0, abort };
    slot.inFlight.set(key, request);
    return request;
  };

  /**
   * Lets callers with the same placement and options share one request. The request is aborted when its last caller
   * aborts.
   */
  const join = (call: Call, slot: Slot): Promise<NoAd | undefined> =>
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
      signal.addEventListener('abort', onAbort, { once: true });
      void request.done.then((noAd) => {
        signal.removeEventListener('abort', onAbort);
        resolve(noAd);
      });
    });

  /** Makes sure that a fresh ad is loaded. Returns the reason if there is none. */
  const ensureReady = async (call: Call): Promise<NoAd | undefined> => {
    const { placement, signal, options, provided } = call;
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    if (!deps.isKnown()) return deps.retryConsent() ? notLoaded : notReady;
    // A decision from the game's server replaces the ad that is loaded or in flight.
    if (provided) forget(placement);
    const slot = openSlot(placement);
    if (isFresh(slot) && slot.ready?.key === createKey(options)) return undefined;
    return cachedNoAd(slot, options) ?? join(call, slot);
  };

  const take: Decisions['take'] = async (placement, signal, options = {}) => {
    const noAd = await ensureReady({ placement, signal, options });
    if (noAd) return noAd;
    const slot = openSlot(placement);
    // In the meantime, another caller may have taken or replaced the ad that both awaited, or the device may have
    // slept.
    const ready = findUnexpired(slot);
    if (ready?.key !== createKey(options)) return take(placement, signal, options);
    delete slot.ready;
    return ready;
  };

  const availability = (placement: string): Availability => {
    const slot = openSlot(placement);
    if (destroyed) return { available: false, reason: 'aborted' };
    if (!deps.isKnown()) return unavailable(notReady);
    if (isFresh(slot)) return { available: true };
    const { noFill } = slot;
    if (noFill && !noFill.end.passed()) return unavailable(noFill.noAd);
    return deps.isOnline() ? { available: true } : { available: false, reason: 'offline' };
  };

  return {
    take,
    async preload(placement, signal, options = {}) {
      const noAd = await ensureReady({ placement, signal, options, provided: options.decision });
      return noAd ? unavailable(noAd) : availability(placement);
    },
    availability,
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

const unavailable = ({ outcome, retryAt }: NoAd): Availability => ({
  available: false,
  reason: outcome,
  ...(retryAt && { retryAt }),
});

/** The arguments of {@link fillSlot}. */
interface SlotRequest {
  placement: string;
  slot: Slot;
  options: RequestOptions;
  signal: AbortSignal;
  isCurrent(): boolean;
  /** A decision that the game's own server made. */
  provided: Decision | undefined;
}

/**
 * Requests an ad and stores it, or the reason there is none. If the slot was replaced in the meantime, the ad was
 * requested with outdated options and is discarded.
 */
async function fillSlot(
  deps: RequestAdDeps,
  { placement, slot, options, signal, isCurrent, provided }: SlotRequest,
): Promise<NoAd | undefined> {
  const { clock } = deps;
  const previous = findUnexpired(slot);
  let result = await (provided
    ? loadProvided(deps, placement, signal, provided)
    : requestAd(deps, { placement, options, signal, previous }));
  if ('creative' in result && result.creative === previous?.creative && slot.ready !== previous) {
    // The ad whose media was reused has been shown or replaced in the meantime.
    result = await loadMedia(deps, result.decision, result.expiry, signal);
  }
  if (!('creative' in result)) {
    if (isCurrent()) recordNoAd(slot, result, clock, options);
    return result;
  }
  const key = createKey(options);
  // A decision from the game's server can't be requested again.
  const { player } = deps.profile();
  if (isCurrent()) storeAd(slot, { ...result, key, player }, clock, provided ? Infinity : freshMs);
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
  slot.ready = { ...ad, freshness: deadlineIn(clock, freshnessMs) };
}

function recordNoAd(slot: Slot, noAd: NoAd, clock: Clock, { segments }: RequestOptions): void {
  const waitMs = noAd.retryAt && noAd.retryAt.getTime() - clock.now();
  // Keeps a preloaded ad for the next attempt.
  if (transient.has(noAd.outcome) && waitMs === undefined) return;
  slot.ready?.creative.destroy();
  delete slot.ready;
  const validMs = noAd.outcome === 'invalid_placement' ? Infinity : (waitMs ?? noFillMs);
  slot.noFill = { noAd, segments: JSON.stringify(segments), end: deadlineIn(clock, validMs) };
}
