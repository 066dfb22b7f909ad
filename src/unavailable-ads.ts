import type { Ads, AdsListeners, Diagnostics } from './ads.ts';
import { createCounts } from './outbox/storage.ts';
import type { Reason, ShowResult } from './outcome.ts';
import { createEmitter, type Emitter } from './platform/emitter.ts';

/** The {@link Ads} methods that games call. A plugin always has them, even while its ads are unavailable. */
export type GameAds = Omit<Ads, 'diagnostics' | 'toggleDebugPanel'>;

/** {@link Ads} for environments without a page, such as Node: every call returns a result and has no effect. */
export function adsWithoutPage(
  environment: Diagnostics['environment'],
  events: Emitter<AdsListeners>,
): Ads {
  return {
    ...unavailableAds('no_dom', events),
    toggleDebugPanel() {},
    diagnostics: () => ({
      environment,
      showing: null,
      outbox: { ...createCounts().report(), storage: 'memory' },
      rewards: { storage: 'memory', pending: 0, undelivered: 0, handlerErrors: 0 },
    }),
  };
}

/**
 * Creates ads whose calls have no effect and end with the outcome `error` and the given reason. Emits no events. This
 * lets a game with invalid options run without ads.
 */
export function unavailableAds(
  reason: Reason,
  events: Emitter<AdsListeners> = createEmitter(),
): GameAds {
  const result: ShowResult = { outcome: 'error', reason };
  const respond = () => Promise.resolve(result);
  return {
    canShow: () => false,
    availability: () => ({ available: false, reason: 'error' }),
    preload: () => Promise.resolve({ available: false, reason: 'error' }),
    showRewarded: respond,
    showInterstitial: respond,
    mountBanner: () => ({ result: respond(), remove() {} }),
    on: events.on,
    once: events.once,
    off: events.off,
    rewardStatus: (decisionId) => Promise.resolve({ decisionId, state: 'none', reason }),
    rewards: () => Promise.resolve([]),
    setUser() {},
    setConsent() {},
    simulate() {},
    destroy() {},
  };
}
