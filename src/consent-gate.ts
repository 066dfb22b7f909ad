import type { Connectivity } from './platform/connectivity.ts';
import type { PlayerContext } from './player-context.ts';

/** Sends nothing before consent is known. */
export function fetchWhenKnown(
  { isKnown }: Pick<PlayerContext, 'isKnown'>,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  return (...request) =>
    isKnown() ? fetch(...request) : Promise.reject(new Error('consent_unknown'));
}

/** Consent that becomes known is a moment to try again, as a network that comes back is. */
export function connectivityWhenKnown(
  { onChange }: Pick<PlayerContext, 'onChange'>,
  connectivity: Connectivity,
): Connectivity {
  return {
    ...connectivity,
    onOnline(listener) {
      const endings = [connectivity.onOnline(listener), onChange(listener)];
      return () => endings.forEach((end) => end());
    },
  };
}
