import type { Audience } from './audience.ts';
import type { Decisions, NoAd } from './decision/decisions.ts';
import type { Connectivity } from './platform/connectivity.ts';

type Known = Pick<Audience, 'isKnown' | 'onKnown'>;

const notReady = { outcome: 'not_ready', reason: 'consent_unknown' } as const satisfies NoAd;
const unavailable = { available: false, reason: 'not_ready' } as const;

/** Sends nothing before consent is known. */
export function fetchWhenKnown(
  { isKnown }: Known,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return (...request) =>
    isKnown() ? fetch(...request) : Promise.reject(new TypeError('Consent is not known yet.'));
}

/** Consent that becomes known is a moment to try again, as a network that comes back is. */
export function connectivityWhenKnown(
  { onKnown }: Known,
  connectivity: Connectivity,
): Connectivity {
  return {
    isOnline: connectivity.isOnline,
    onOnline(listener) {
      const endings = [connectivity.onOnline(listener), onKnown(listener)];
      return () => endings.forEach((end) => end());
    },
  };
}

/** Answers `not_ready` before consent is known. */
export function decisionsWhenKnown({ isKnown }: Known, decisions: Decisions): Decisions {
  return {
    ...decisions,
    take: (...call) => (isKnown() ? decisions.take(...call) : Promise.resolve(notReady)),
    preload: (...call) => (isKnown() ? decisions.preload(...call) : Promise.resolve(unavailable)),
    availability: (placement) => (isKnown() ? decisions.availability(placement) : unavailable),
  };
}
