import type { Availability } from '../outcome.ts';
import type { Decisions, NoAd, ReadyAd } from './decisions.ts';
import { durationMs } from './duration.ts';
import type { RequestAdParts } from './request-ad.ts';

export interface DecisionsParts extends RequestAdParts {
  /** Whether the browser believes that there is a network. */
  isOnline: () => boolean;
}

/** What is known of one placement. Times are on the monotonic clock. */
interface Slot {
  ready?: ReadyAd & { freshUntil: number; expiresAt: number };
  refused?: { noAd: NoAd; until: number };
  flight?: { done: Promise<NoAd | undefined>; waiters: number; abort: AbortController };
}

/** An operator's kill switch reaches a preloaded ad by asking again after this. */
const freshMs = 60_000;
/** How long a placement counts as empty where the service did not say when to ask again. */
const emptyMs = 30_000;

/** Failures on the way: nothing says that the next try fails too. */
const passing = new Set<string>(['offline', 'timeout', 'ad_blocked', 'aborted', 'error']);

/** Makes the cache of decisions and their media. */
export function createDecisions(parts: DecisionsParts): Decisions {
  const { clock } = parts;
  const slots = new Map<string, Slot>();
  let destroyed = false;

  const slotOf = (placement: string): Slot => {
    const slot = slots.get(placement) ?? {};
    slots.set(placement, slot);
    return slot;
  };
  /** The preloaded ad, unless it is too old to be shown at all. */
  const unexpired = (slot: Slot): Slot['ready'] =>
    slot.ready && clock.monotonic() < slot.ready.expiresAt ? slot.ready : undefined;
  const fresh = (slot: Slot): boolean =>
    clock.monotonic() < (unexpired(slot)?.freshUntil ?? -Infinity);

  /** What was refused and, by the service's own word, would be again. */
  const remembered = (slot: Slot): NoAd | undefined => {
    const { noAd, until = 0 } = slot.refused ?? {};
    const certain = noAd?.retryAt || until === Infinity;
    return certain && clock.monotonic() < until ? noAd : undefined;
  };

  const keep = (slot: Slot, ad: ReadyAd): void => {
    const now = clock.monotonic();
    const livesMs = durationMs(ad.decision.issued_at, ad.decision.expires_at);
    if (slot.ready && slot.ready.creative !== ad.creative) slot.ready.creative.destroy();
    delete slot.refused;
    slot.ready = { ...ad, freshUntil: now + freshMs, expiresAt: now + livesMs };
  };
  const refuse = (slot: Slot, noAd: NoAd): void => {
    const waitMs = noAd.retryAt && noAd.retryAt.getTime() - clock.now();
    // A preloaded ad stays for the next try.
    if (passing.has(noAd.outcome) && waitMs === undefined) return;
    slot.ready?.creative.destroy();
    delete slot.ready;
    const forMs = noAd.outcome === 'invalid_placement' ? Infinity : (waitMs ?? emptyMs);
    slot.refused = { noAd, until: clock.monotonic() + forMs };
  };

  const fly = (placement: string, slot: Slot): NonNullable<Slot['flight']> => {
    const abort = new AbortController();
    const request = async (): Promise<NoAd | undefined> => {
      // Loaded with the first request: a game starts without it.
      const result = await import('./request-ad.ts').then(
        ({ requestAd }) => requestAd(parts, placement, abort.signal, unexpired(slot)),
        (): NoAd => ({ outcome: 'offline', reason: 'network' }),
      );
      if (slot.flight?.abort === abort) delete slot.flight;
      if (!('creative' in result)) {
        if (!destroyed) refuse(slot, result);
        return result;
      }
      if (slots.get(placement) !== slot) {
        // It was asked for on other terms than those of now.
        result.creative.destroy();
        return destroyed ? { outcome: 'aborted' } : undefined;
      }
      keep(slot, result);
      return undefined;
    };
    return (slot.flight = { done: request(), waiters: 0, abort });
  };

  /** Waits for the placement's one flight; the last to lose interest aborts it. */
  const join = (placement: string, slot: Slot, signal: AbortSignal): Promise<NoAd | undefined> =>
    new Promise((resolve) => {
      const flight = slot.flight ?? fly(placement, slot);
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
  const ensure = async (placement: string, signal: AbortSignal): Promise<NoAd | undefined> => {
    if (destroyed || signal.aborted) return { outcome: 'aborted' };
    const slot = slotOf(placement);
    if (fresh(slot)) return undefined;
    return remembered(slot) ?? join(placement, slot, signal);
  };

  const take = async (placement: string, signal: AbortSignal): Promise<ReadyAd | NoAd> => {
    const noAd = await ensure(placement, signal);
    if (noAd) return noAd;
    const slot = slotOf(placement);
    // Another caller may have taken what both waited for.
    if (!slot.ready) return take(placement, signal);
    const { decision, creative } = slot.ready;
    delete slot.ready;
    return { decision, creative };
  };

  const forget = (): void => {
    for (const slot of slots.values()) slot.ready?.creative.destroy();
    slots.clear();
  };

  const availability = (placement: string): Availability => {
    const slot = slots.get(placement) ?? {};
    if (destroyed) return { available: false, reason: 'aborted' };
    if (unexpired(slot)) return { available: true };
    const { refused } = slot;
    if (refused && clock.monotonic() < refused.until) return unavailable(refused.noAd);
    return parts.isOnline() ? { available: true } : { available: false, reason: 'offline' };
  };

  return {
    take,
    async preload(placement, signal) {
      const noAd = await ensure(placement, signal);
      return noAd ? unavailable(noAd) : availability(placement);
    },
    availability,
    forget,
    destroy() {
      destroyed = true;
      for (const slot of slots.values()) slot.flight?.abort.abort();
      forget();
    },
  };
}

const unavailable = ({ outcome, retryAt }: NoAd): Availability => ({
  available: false,
  reason: outcome,
  ...(retryAt && { retryAt }),
});
