import type { Decision } from '../../protocol/wire.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability } from '../outcome.ts';
import type { Deadline } from '../platform/clock.ts';
import { copyOwn, messageOf, toList } from '../platform/guard.ts';
import { listen, native } from '../platform/native.ts';
import type { PageLifecycle } from '../platform/page.ts';
import type { AdRules } from './ad-rules.ts';
import type { NoAd } from './no-ad.ts';
import type { AdRequestOptions, ReadyAd, RequestAdDeps } from './request-ad.ts';
import {
  createKey,
  fillSlot,
  findFresh,
  findUnexpired,
  type InFlightRequest,
  type Slot,
} from './slot.ts';

/** Request options, and the format that the caller needs. */
interface AdOptions extends AdRequestOptions {
  format?: Decision['format'];
}

/** Preloads and caches ads. Identical concurrent calls for a placement share one request to the service. */
export interface Decisions {
  /**
   * Returns the ad that was preloaded with the same options, or requests a new one. Never rejects. If `signal` aborts,
   * resolves with the outcome `aborted`.
   */
  take(placement: string, signal: AbortSignal, options?: AdOptions): Promise<ReadyAd | NoAd>;
  /** Loads an ad, so that `take` does not wait. By default, requests a new decision. */
  preload(
    placement: string,
    signal: AbortSignal,
    options?: AdOptions & { decision?: Decision },
  ): Promise<Availability>;
  /** Whether an ad may be offered, as far as this device knows. Doesn’t send a request. */
  availability(placement: string, options?: RequestOptions): Availability;
  /** Whether `take` would return a preloaded ad without sending a request. */
  isLoaded(placement: string, options?: RequestOptions): boolean;
  /**
   * Returns why the player may not see an ad now, whatever the service would decide: no ads for this player, or an ad
   * rule that this device knows.
   */
  findHold(placement: string, options: AdOptions): NoAd | undefined;
  /** Counts an ad toward the ad rules: its impression has been measured. */
  onImpression(decisionId: string): void;
  /** Discards preloaded ads and no-fills. Call it when the request options have changed. */
  forget(): void;
  /** Aborts requests in flight and destroys preloaded ads. */
  destroy(): void;
}

export interface DecisionsDeps extends Omit<RequestAdDeps, 'findHold'> {
  adRules: Omit<AdRules, 'destroy'>;
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

const adFree: NoAd = { outcome: 'ad_free', reason: 'ad_free' };
const frequencyCapped: NoAd = { outcome: 'frequency_capped', reason: 'frequency_capped' };
const notReady: NoAd = { outcome: 'not_ready', reason: 'consent_unknown' };

/**
 * How often a call starts over because what it has loaded can’t be used: its ad has expired, or the player or consent
 * has changed. A service whose ads expire at once, or that refuses every new guest, must not be asked without end.
 */
const maxRestarts = 4;

/** Copies request options, so that nothing is taken for one that the page has added to every object. */
const copyRequestOptions = <Options extends RequestOptions>(options?: Options): Partial<Options> =>
  copyOwn(options) as Partial<Options>;

/** Returns the times at which the placement’s state changes by itself. */
const findDeadlines = (slot: Slot, hold: Deadline): Deadline[] => {
  const ready = findFresh(slot);
  const deadlines = slot.noFill ? [slot.noFill.end, hold] : [hold];
  if (ready) deadlines.push(ready.expiry, ready.freshness);
  return deadlines.filter((deadline) => !deadline.passed());
};

/** One call that needs an ad. */
interface Call {
  placement: string;
  signal: AbortSignal;
  options: AdOptions;
  /** A decision from the game's own server. */
  decision: Decision | undefined;
}

/** Creates the cache for decisions and their media. */
export function createDecisions(deps: DecisionsDeps): Decisions {
  const { adRules, clock } = deps;
  const slots = new Map<string, Slot>();
  let destroyed = false;
  let nextExpiry: Deadline | undefined;
  let cancelCheck: (() => void) | undefined;

  const getOrCreateSlot = (placement: string): Slot => {
    const slot = slots.get(placement) ?? { inFlight: new Map() };
    slots.set(placement, slot);
    return slot;
  };
  /** Returns how long the ad rules hold the placement’s ads back, in milliseconds. */
  const findWaitMs = (placement: string, { format, segments }: AdOptions): number => {
    const { user } = deps.profile();
    const sent = user.childDirected ? undefined : (segments ?? user.segments);
    return adRules.waitMs(placement, sent, format);
  };
  const findHold = (placement: string, options: AdOptions): NoAd | undefined => {
    const { format = adRules.formatOf(placement) } = options;
    if (format && deps.profile().player?.adFree?.includes(format)) return adFree;
    const waitMs = findWaitMs(placement, options);
    if (waitMs <= 0) return undefined;
    const retryAt = waitMs < Infinity && new native.Date(Math.ceil(clock.now() + waitMs));
    return { ...frequencyCapped, ...(retryAt && { retryAt }) };
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
    nextExpiry = toList(slots)
      .flatMap(([placement, slot]) => {
        const leftMs = (): number => findWaitMs(placement, copyRequestOptions());
        return findDeadlines(slot, { leftMs, passed: () => leftMs() <= 0 });
      })
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
    toList(slots.keys()).forEach(forget);
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
    const abort = new native.AbortController();
    const key = createKey(options);
    const fillResult = fillSlot(
      { ...deps, findHold },
      {
        placement,
        slot,
        options,
        signal: abort.signal,
        isCurrent: () => slots.get(placement) === slot,
        decision,
      },
    );
    const done = fillResult
      // For example, the game’s decision has a property that throws. Whoever waits for the request must not wait for ever.
      .catch((error): NoAd => ({ outcome: 'error', reason: 'sdk_error', detail: messageOf(error) }))
      .finally(() => {
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
  const ensureReady = async (call: Call, restarts = maxRestarts): Promise<NoAd | undefined> => {
    const { placement, signal, options, decision } = call;
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    if (!deps.isConsentKnown()) return notReady;
    const hold = !decision && findHold(placement, options);
    if (hold) return hold;
    // A decision from the game's server replaces the ad that is loaded or being requested.
    if (decision) forget(placement);
    const slot = getOrCreateSlot(placement);
    if (isReady(slot, options)) return undefined;
    const cached = findCachedNoAd(slot, options);
    const noAd = cached && isDefinitive(cached) ? cached : await joinRequest(call, slot);
    const isOutdated = slots.get(placement) !== slot && !decision && !signal.aborted;
    if (!isOutdated) return noAd;
    return restarts > 0 ? ensureReady(call, restarts - 1) : (noAd ?? { outcome: 'aborted' });
  };

  const takeAd = async (
    placement: string,
    signal: AbortSignal,
    options: AdOptions,
    restarts = maxRestarts,
  ): Promise<ReadyAd | NoAd> => {
    const noAd = await ensureReady({ placement, signal, options, decision: undefined });
    // Another ad may have been seen since this one was loaded. It stays loaded.
    const hold = noAd ?? findHold(placement, options);
    if (hold) return hold;
    const slot = getOrCreateSlot(placement);
    // By now, another caller may have taken or replaced the ad, or it may have expired while the device slept.
    const ready = findUnexpired(slot);
    if (ready?.key !== createKey(options)) {
      const expired = ready ? undefined : slot.ready;
      if (expired && restarts === 0)
        return { outcome: 'error', reason: 'expired', decisionId: expired.decision.id };
      return takeAd(placement, signal, options, restarts - (expired ? 1 : 0));
    }
    delete slot.ready;
    adRules.take(ready.decision);
    scheduleCheck();
    return ready;
  };

  const availability = (placement: string, given?: AdOptions): Availability => {
    const options = copyRequestOptions(given);
    if (destroyed) return toUnavailable({ outcome: 'aborted', reason: 'destroyed' });
    if (!deps.isConsentKnown()) return toUnavailable(notReady);
    const slot = getOrCreateSlot(placement);
    const hold = findHold(placement, options);
    if (hold) {
      // After a reload, nothing else has scheduled a check.
      const leftMs = (hold.retryAt?.getTime() ?? Infinity) - clock.now();
      if (leftMs < (nextExpiry?.leftMs() ?? Infinity)) scheduleCheck();
      return toUnavailable(hold);
    }
    if (isReady(slot, options)) {
      const reward = slot.ready?.decision.reward;
      return { available: true, ...(reward && { reward }) };
    }
    const noAd = findCachedNoAd(slot, options);
    if (noAd) return toUnavailable(noAd);
    return deps.isReachable()
      ? { available: true }
      : toUnavailable({ outcome: 'offline', reason: 'network' });
  };

  return {
    take: (placement, signal, given) => takeAd(placement, signal, copyRequestOptions(given)),
    async preload(placement, signal, given) {
      const options = copyRequestOptions(given);
      const { decision, format } = options;
      const noAd = await ensureReady({ placement, signal, options, decision });
      if (noAd) return toUnavailable(noAd);
      const { ready } = getOrCreateSlot(placement);
      return format && ready && ready.decision.format !== format
        ? toUnavailable({ outcome: 'invalid_placement', reason: 'wrong_format' })
        : availability(placement, options);
    },
    availability,
    findHold,
    isLoaded: (placement, options) =>
      !destroyed &&
      deps.isConsentKnown() &&
      !findHold(placement, copyRequestOptions(options)) &&
      isReady(getOrCreateSlot(placement), copyRequestOptions(options)),
    onImpression(decisionId) {
      adRules.onImpression(decisionId);
      if (destroyed) return;
      scheduleCheck();
      deps.onChange();
    },
    forget() {
      forgetAll();
      adRules.forgetPlayer();
    },
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
