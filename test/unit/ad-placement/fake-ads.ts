import type { ShowOptions } from '../../../src/ads.ts';
import type { BreakAds } from '../../../src/ad-placement/run-break.ts';
import type { Availability, Outcome, ShowResult } from '../../../src/outcome.ts';

/** Fake ads. A test sets their outcomes, and they record their calls in the test's `log`. */
export interface FakeAds extends BreakAds {
  currentAvailability: Availability;
  /** The outcome of the next ad. `opens: false` means that the ad never covers the game. */
  nextAd: { outcome: Outcome; opens: boolean };
  /** If set, an ad stays on the screen until this promise settles. */
  untilClosed: Promise<void> | undefined;
  showing: boolean;
}

export function createFakeAds(log: string[]): FakeAds {
  async function show(placement: string, options: ShowOptions = {}): Promise<ShowResult> {
    log.push(
      options.muted === undefined
        ? `show ${placement}`
        : `show ${placement} muted: ${options.muted}`,
    );
    if (ads.showing) return { outcome: 'already_showing' };
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
    nextAd: { outcome: 'completed', opens: true },
    untilClosed: undefined,
    showing: false,
    availability: () =>
      ads.showing ? { available: false, outcome: 'already_showing' } : ads.currentAvailability,
    preload(placement) {
      log.push(`preload ${placement}`);
      return Promise.resolve(ads.currentAvailability);
    },
    showRewarded: show,
    showInterstitial: show,
  };
  return ads;
}
