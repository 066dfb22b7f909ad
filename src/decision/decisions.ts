import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability } from '../outcome.ts';
import { type Clock, type Deadline, deadlineIn } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page.ts';
import { type ReadyAd, loadGiven, loadMedia, requestAd, type RequestAdDeps } from './request-ad.ts';
import type { NoAd } from './no-ad.ts';

/** Preloads ads, one request per placement at a time. */
export interface Decisions {
  /**
   * Returns the ad preloaded with the same options, or requests a new one. Never rejects; an abort by `signal` is
   * an outcome too.
   */
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  /** Loads an ad, so that `take` does not wait: for `decision` if given, otherwise for a new one. */
  preload(
    placement: string,
    signal: AbortSignal,
    options?: RequestOptions & { decision?: Decision },
  ): Promise<Availability>;
  /** Whether an ad may be available, as far as is known. Makes no request. */
  availability(placement: string): Availability;
  /** Drops preloaded ads and no-fills, because the request options have changed. */
  forget(): void;
  /** Aborts requests in flight and destroys preloaded ads. */
  destroy(): void;
}

export interface DecisionsDeps extends RequestAdDeps {
  /** Whether consent is known; before that, no requests are made. */
  isKnown(): boolean;
  /** Loads the code that reads the page’s consent again if it failed to load; returns whether it did. */
  retryConsent(): boolean;
  /** Called when a no-fill has expired: the result of `availability()` may have changed. */
  onChange(): void;
  lifecycle: Pick<PageLifecycle, 'onTransition'>;
}

/**
 * Timers stop while the device sleeps, so expiry is checked whenever the player returns, and at least this often,
 * in milliseconds.
 */
const checkEveryMs = 30_000;

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
   * A preloaded ad; once it is no longer fresh, it is requested again before it is shown. `asked` is the key of its
   * request options.
   */
  ready?: ReadyAd & { asked: string; freshness: Deadline };
  /** Why there was no ad, for which segments (as JSON), and until when that is valid. */
  refused?: { noAd: NoAd; segments: string | undefined; end: Deadline };
  /** Keyed by {@link keyOf} of their options. */
  inFlight: Map<string, InFlightRequest>;
}

/** A key for options that result in the same request. */
const keyOf = ({ customData, segments }: RequestOptions): string =>
  JSON.stringify([customData, segments]);

/** The preloaded ad, unless it has expired. */
const unexpired = ({ ready }: Slot): Slot['ready'] => (ready?.expiry.passed() ? undefined : ready);

/** A preloaded ad is revalidated after this time, in milliseconds, so that kill switches reach it. */
const freshMs = 60_000;
/** How long a no-fill lasts if the service did not specify a retry time, in milliseconds. */
const emptyMs = 30_000;

/** Transient failures: the next request may succeed. */
const transient = new Set<string>(['offline', 'timeout', 'ad_blocked', 'aborted', 'error']);

/** One call that needs an ad. */
interface Call {
  placement: string;
  signal: AbortSignal;
  options: RequestOptions;
  /** A decision that the game's own server obtained. */
  given?: Decision | undefined;
}

/** Creates the cache of decisions and their media. */
export function createDecisions(deps: DecisionsDeps): Decisions {
  const { clock } = deps;
  const slots = new Map<string, Slot>();
  let destroyed = false;
  let nextEnd: Deadline | undefined;
  let cancelCheck: (() => void) | undefined;

  const slotOf = (placement: string): Slot => {
    const slot = slots.get(placement) ?? { inFlight: new Map() };
    slots.set(placement, slot);
    return slot;
  };
  const fresh = (slot: Slot): boolean => unexpired(slot)?.freshness.passed() === false;

  const forget = (placement: string): void => {
    slots.get(placement)?.ready?.creative.destroy();
    slots.delete(placement);
  };

  /** Schedules a check for the earliest expiry of a no-fill. */
  const scheduleCheck = (): void => {
    cancelCheck?.();
    nextEnd = Array.from(slots.values())
      .flatMap(({ refused }) => (refused && !refused.end.passed() ? [refused.end] : []))
      .sort((a, b) => a.leftMs() - b.leftMs())[0];
    if (!nextEnd || nextEnd.leftMs() === Infinity) return;
    // Whole milliseconds, since browsers drop the rest.
    cancelCheck = clock.after(Math.min(Math.ceil(nextEnd.leftMs()), checkEveryMs), checkRefusals);
  };
  const checkRefusals = (): void => {
    const changed = nextEnd?.passed();
    scheduleCheck();
    if (changed) deps.onChange();
  };
  const offMoments = deps.lifecycle.onTransition((moment) => {
    if (moment === 'visible' || moment === 'returned') checkRefusals();
  });

  const forgetAll = (): void => {
    Array.from(slots.keys()).forEach(forget);
    nextEnd = undefined;
    cancelCheck?.();
  };

  /** The last no-fill if the service specified how long it lasts and it still does. */
  const remembered = (slot: Slot, { segments }: RequestOptions): NoAd | undefined => {
    const { refused } = slot;
    if (!refused || refused.end.passed()) return undefined;
    // Policies may depend on segments; custom data is only passed through.
    if (refused.segments !== JSON.stringify(segments)) return undefined;
    const certain = refused.noAd.retryAt || refused.end.leftMs() === Infinity;
    return certain ? refused.noAd : undefined;
  };

  const startRequest = ({ placement, options, given }: Call, slot: Slot): InFlightRequest => {
    const abort = new AbortController();
    const key = keyOf(options);
    const filled = fillSlot(deps, {
      placement,
      slot,
      options,
      signal: abort.signal,
      isCurrent: () => slots.get(placement) === slot,
      given,
    });
    const done = filled.finally(() => {
      if (slot.inFlight.get(key) === request) slot.inFlight.delete(key);
      if (!destroyed) scheduleCheck();
    });
    const request: InFlightRequest = { done, waiters: 0, abort };
    slot.inFlight.set(key, request);
    return request;
  };

  /** Shares one request in flight per placement and options; it is aborted when the last caller aborts. */
  const join = (call: Call, slot: Slot): Promise<NoAd | undefined> =>
    new Promise((resolve) => {
      const { options, signal } = call;
      const key = keyOf(options);
      const request = slot.inFlight.get(key) ?? startRequest(call, slot);
      request.waiters += 1;
      const leave = (): void => {
        request.waiters -= 1;
        if (request.waiters === 0) {
          request.abort.abort();
          if (slot.inFlight.get(key) === request) slot.inFlight.delete(key);
        }
        resolve({ outcome: 'aborted' });
      };
      signal.addEventListener('abort', leave, { once: true });
      void request.done.then((noAd) => {
        signal.removeEventListener('abort', leave);
        resolve(noAd);
      });
    });

  /** Makes sure that a fresh ad is loaded; returns the reason if there is none. */
  const ensure = async (call: Call): Promise<NoAd | undefined> => {
    const { placement, signal, options, given } = call;
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    if (!deps.isKnown()) return deps.retryConsent() ? notLoaded : notReady;
    // A decision of the game's server replaces whatever is loaded or in flight.
    if (given) forget(placement);
    const slot = slotOf(placement);
    if (fresh(slot) && slot.ready?.asked === keyOf(options)) return undefined;
    return remembered(slot, options) ?? join(call, slot);
  };

  const take: Decisions['take'] = async (placement, signal, options = {}) => {
    const noAd = await ensure({ placement, signal, options });
    if (noAd) return noAd;
    const slot = slotOf(placement);
    // Another caller may have taken or replaced what both waited for, or the device may have slept meanwhile.
    const ready = unexpired(slot);
    if (ready?.asked !== keyOf(options)) return take(placement, signal, options);
    delete slot.ready;
    return ready;
  };

  const availability = (placement: string): Availability => {
    const slot = slotOf(placement);
    if (destroyed) return { available: false, reason: 'aborted' };
    if (!deps.isKnown()) return unavailable(notReady);
    if (fresh(slot)) return { available: true };
    const { refused } = slot;
    if (refused && !refused.end.passed()) return unavailable(refused.noAd);
    return deps.isOnline() ? { available: true } : { available: false, reason: 'offline' };
  };

  return {
    take,
    async preload(placement, signal, options = {}) {
      const noAd = await ensure({ placement, signal, options, given: options.decision });
      return noAd ? unavailable(noAd) : availability(placement);
    },
    availability,
    forget: forgetAll,
    destroy() {
      destroyed = true;
      offMoments();
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
interface Filling {
  placement: string;
  slot: Slot;
  options: RequestOptions;
  signal: AbortSignal;
  isCurrent(): boolean;
  /** A decision that the game's own server made. */
  given: Decision | undefined;
}

/**
 * Requests an ad and stores it, or the reason there is none. If the slot was replaced meanwhile, the ad was requested with
 * outdated options and is dropped.
 */
async function fillSlot(
  deps: RequestAdDeps,
  { placement, slot, options, signal, isCurrent, given }: Filling,
): Promise<NoAd | undefined> {
  const { clock } = deps;
  const lender = unexpired(slot);
  let result = await (given
    ? loadGiven(deps, placement, signal, given)
    : requestAd(deps, { placement, options, signal, previous: lender }));
  if ('creative' in result && result.creative === lender?.creative && slot.ready !== lender) {
    // The ad whose media was reused has been shown or replaced meanwhile.
    result = await loadMedia(deps, result.decision, result.expiry, signal);
  }
  if (!('creative' in result)) {
    if (isCurrent()) recordNoAd(slot, result, clock, options);
    return result;
  }
  const optionsKey = keyOf(options);
  // A decision from the game's server can't be requested again.
  const { player } = deps.profile();
  if (isCurrent())
    keep(slot, { ...result, asked: optionsKey, player }, clock, given ? Infinity : freshMs);
  else result.creative.destroy();
  return undefined;
}

function keep(slot: Slot, ad: ReadyAd & { asked: string }, clock: Clock, freshForMs: number): void {
  if (slot.ready && slot.ready.creative !== ad.creative) slot.ready.creative.destroy();
  delete slot.refused;
  slot.ready = { ...ad, freshness: deadlineIn(clock, freshForMs) };
}

function recordNoAd(slot: Slot, noAd: NoAd, clock: Clock, { segments }: RequestOptions): void {
  const waitMs = noAd.retryAt && noAd.retryAt.getTime() - clock.now();
  // Keep a preloaded ad for the next attempt.
  if (transient.has(noAd.outcome) && waitMs === undefined) return;
  slot.ready?.creative.destroy();
  delete slot.ready;
  const forMs = noAd.outcome === 'invalid_placement' ? Infinity : (waitMs ?? emptyMs);
  slot.refused = { noAd, segments: JSON.stringify(segments), end: deadlineIn(clock, forMs) };
}
