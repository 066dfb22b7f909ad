import type { Ads, AdsListeners, Diagnostics } from './ads.ts';
import type { Availability, Reason, ShowResult } from './outcome.ts';
import { createEmitter, type Emitter } from './platform/emitter.ts';
import { createWallet } from './lazy-wallet.ts';

/**
 * Creates ads whose calls have no effect and end with the outcome `error` and the given reason. Emits no events. This
 * lets a game run without ads if its options are invalid or there is no page, as in Node.
 */
export function unavailableAds(
  reason: Reason,
  events: Emitter<AdsListeners> = createEmitter(),
  environment: Diagnostics['environment'] = null,
): Ads {
  const result: ShowResult = { outcome: 'error', reason };
  const respond = () => Promise.resolve(result);
  const availability: Availability = { available: false, outcome: 'error', reason };
  return {
    canShow: () => false,
    isLoaded: () => false,
    isAdFree: () => false,
    availability: () => availability,
    preload: () => Promise.resolve(availability),
    showRewarded: respond,
    showInterstitial: respond,
    mountBanner: () => ({ result: respond(), remove() {} }),
    on: events.on,
    once: events.once,
    off: events.off,
    wallet: createWallet(() => Promise.reject(Error(reason)), reason),
    rewardStatus: (decisionId) => Promise.resolve({ decisionId, state: 'none', reason }),
    rewards: () => Promise.resolve([]),
    setUser() {},
    setConsent() {},
    simulate() {},
    diagnostics: () => ({
      environment,
      showing: null,
      outbox: { storage: 'memory', stored: 0, sent: 0, dropped: {}, rejected: {} },
      rewards: { storage: 'memory', pending: 0, undelivered: 0, handlerErrors: 0 },
    }),
    toggleDebugPanel() {},
    destroy() {},
  };
}
