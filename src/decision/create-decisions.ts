import type { Decision } from '../../protocol/wire.ts';
import type { Availability } from '../outcome.ts';
import type { Decisions, NoAd, ReadyAd } from './decisions.ts';
import type { RequestAdParts } from './request-ad.ts';
import { type Flight, type Slot, unexpired } from './slot.ts';

interface DecisionsParts extends RequestAdParts {
  /** Whether consent is known; before that, nothing is asked. */
  isKnown(): boolean;
}

const notReady: NoAd = { outcome: 'not_ready', reason: 'consent_unknown' };

/** Makes the cache of decisions and their media. */
export function createDecisions(parts: DecisionsParts): Decisions {
  const slots = new Map<string, Slot>();
  let destroyed = false;

  const slotOf = (placement: string): Slot => {
    const slot = slots.get(placement) ?? {};
    slots.set(placement, slot);
    return slot;
  };
  const fresh = (slot: Slot): boolean => unexpired(slot)?.freshness.passed() === false;

  const forget = (placement: string): void => {
    slots.get(placement)?.ready?.creative.destroy();
    slots.delete(placement);
  };
  const forgetAll = (): void => Array.from(slots.keys()).forEach(forget);

  /** What was refused and, by the service's own word, would be again. */
  const remembered = (slot: Slot): NoAd | undefined => {
    const { refused } = slot;
    if (!refused || refused.end.passed()) return undefined;
    const certain = refused.noAd.retryAt || refused.end.leftMs() === Infinity;
    return certain ? refused.noAd : undefined;
  };

  const fly = (placement: string, slot: Slot, given?: Decision): Flight => {
    const abort = new AbortController();
    // Loaded with the first request: a game starts without it.
    const filled = import('./fill-slot.ts').then(
      ({ fillSlot }) =>
        fillSlot(parts, {
          placement,
          slot,
          signal: abort.signal,
          isCurrent: () => slots.get(placement) === slot,
          given,
        }),
      (): NoAd => ({ outcome: 'offline', reason: 'network' }),
    );
    const done = filled.finally(() => {
      if (slot.flight?.abort === abort) delete slot.flight;
    });
    return (slot.flight = { done, waiters: 0, abort });
  };

  /** Waits for the placement's one flight; the last to lose interest aborts it. */
  const join = (
    placement: string,
    slot: Slot,
    signal: AbortSignal,
    given?: Decision,
  ): Promise<NoAd | undefined> =>
    new Promise((resolve) => {
      const flight = slot.flight ?? fly(placement, slot, given);
      flight.waiters += 1;
      const leave = (): void => {
        flight.waiters -= 1;
        if (flight.waiters === 0) {
          flight.abort.abort();
          if (slot.flight === flight) delete slot.flight;
        }
        resolve({ outcome: 'aborted' });
      };
      signal.addEventListener('abort', leave, { once: true });
      void flight.done.then((noAd) => {
        signal.removeEventListener('abort', leave);
        resolve(noAd);
      });
    });

  /** Sees to it that a fresh ad is there; says why when it is not. */
  const ensure = async (
    placement: string,
    signal: AbortSignal,
    given?: Decision,
  ): Promise<NoAd | undefined> => {
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    if (!parts.isKnown()) return notReady;
    // What is known or on its way makes room for the decision of the game's own server.
    if (given) forget(placement);
    const slot = slotOf(placement);
    if (fresh(slot)) return undefined;
    return remembered(slot) ?? join(placement, slot, signal, given);
  };

  const take = async (placement: string, signal: AbortSignal): Promise<ReadyAd | NoAd> => {
    const noAd = await ensure(placement, signal);
    if (noAd) return noAd;
    const slot = slotOf(placement);
    // Another caller may have taken what both waited for, or the device may have slept meanwhile.
    const ready = unexpired(slot);
    if (!ready) return take(placement, signal);
    delete slot.ready;
    return ready;
  };

  const availability = (placement: string): Availability => {
    const slot = slots.get(placement) ?? {};
    if (destroyed) return { available: false, reason: 'aborted' };
    if (!parts.isKnown()) return unavailable(notReady);
    if (fresh(slot)) return { available: true };
    const { refused } = slot;
    if (refused && !refused.end.passed()) return unavailable(refused.noAd);
    return parts.isOnline() ? { available: true } : { available: false, reason: 'offline' };
  };

  return {
    take,
    async preload(placement, signal, given) {
      const noAd = await ensure(placement, signal, given);
      return noAd ? unavailable(noAd) : availability(placement);
    },
    availability,
    forget: forgetAll,
    destroy() {
      destroyed = true;
      for (const slot of slots.values()) slot.flight?.abort.abort();
      forgetAll();
    },
  };
}

const unavailable = ({ outcome, retryAt }: NoAd): Availability => ({
  available: false,
  reason: outcome,
  ...(retryAt && { retryAt }),
});
