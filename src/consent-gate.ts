import type { Audience } from './audience.ts';
import type { Connectivity } from './platform/connectivity.ts';

type Known = Pick<Audience, 'isKnown' | 'onKnown'>;

/** Sends nothing before consent is known. */
export function fetchWhenKnown(
  { isKnown }: Known,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return (...request) =>
    isKnown() ? fetch(...request) : Promise.reject(new Error('consent_unknown'));
}

/** Consent that becomes known is a moment to try again, as a network that comes back is. */
export function connectivityWhenKnown(
  { onKnown }: Known,
  connectivity: Connectivity,
): Connectivity {
  return {
    ...connectivity,
    onOnline(listener) {
      const endings = [connectivity.onOnline(listener), onKnown(listener)];
      return () => endings.forEach((end) => end());
    },
  };
}
