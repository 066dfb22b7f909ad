import type { ShowOptions } from '../../../src/ads.ts';
import type { BreakAds } from '../../../src/ad-placement/run-break.ts';
import type { Availability, Outcome, ShowResult } from '../../../src/outcome.ts';

/** Fake ads. A test sets their outcomes, and they record their calls in the test's `log`. */
export interface FakeAds extends BreakAds {
  currentAvailability: Availability;
  /** The placements that ads were loaded for, with the expected format. */
  preloads: string[];
  /** The placements for which an ad is loaded. */
  loaded: Set<string>;
  /** If set, ads are loaded when this promise settles. */
  untilLoaded: Promise<void> | undefined;
  /** The outcome of the next ad. `opens: false` means that the ad never covers the game. */
  nextAd: { outcome: Outcome; opens: boolean };
  /** If set, an ad stays on the screen until this promise settles. */
  untilClosed: Promise<void> | undefined;
  showing: boolean;
  emitChange(): void;
}

export function createFakeAds(log: string[]): FakeAds {
  const listeners: (() => void)[] = [];
  async function show(placement: string, options: ShowOptions = {}): Promise<ShowResult> {
    log.push(
      options.muted === undefined
        ? `show ${placement}`
        : `show ${placement} muted: ${options.muted}`,
    );
    if (ads.showing) return { outcome: 'already_showing' };
    ads.loaded.delete(placement);
    if (!ads.nextAd.opens) return { outcome: ads.nextAd.outcome };
    ads.showing = true;
    options.onOpen?.();
    if (!options.signal?.aborted) {
      log.push('ad');
      await ads.untilClosed;
    }
    ads.showing = false;
    options.onClose?.();
    return { outcome: options.signal?.aborted ? 'aborted' : ads.nextAd.outcome };
  }
  const ads: FakeAds = {
    currentAvailability: { available: true },
    preloads: [],
    loaded: new Set(),
    untilLoaded: undefined,
    nextAd: { outcome: 'completed', opens: true },
    untilClosed: undefined,
    showing: false,
    emitChange: () => listeners.forEach((listener) => listener()),
    on(_event, listener) {
      listeners.push(listener as () => void);
      return () => undefined;
    },
    availability: () =>
      ads.showing ? { available: false, outcome: 'already_showing' } : ads.currentAvailability,
    isLoaded: (placement) => !ads.showing && ads.loaded.has(placement),
    async preload(placement, { format } = {}) {
      ads.preloads.push(format === undefined ? placement : `${placement} as ${format}`);
      await ads.untilLoaded;
      if (ads.currentAvailability.available) ads.loaded.add(placement);
      return ads.currentAvailability;
    },
    showRewarded: show,
    showInterstitial: show,
  };
  return ads;
}
