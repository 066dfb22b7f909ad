import type { PreloadOptions } from '../ads.ts';
import type { Availability } from '../outcome.ts';
import { native } from '../platform/native.ts';
import type { BreakAds } from './run-break.ts';

/**
 * How often an ad that has become stale is loaded again before the next ad break. An ad is fresh for a minute, so a game
 * that nobody plays stops loading ads after ten minutes.
 */
const maxReloads = 10;

/** The format that an ad break needs. */
export type AdFormat = NonNullable<PreloadOptions['format']>;

/** Keeps ads loaded between ad breaks. */
export interface LoadedAds {
  /**
   * Loads an ad and keeps it loaded until it is shown, or until a request ends without an ad and without a time for the
   * next one.
   */
  keep(placement: string, format?: AdFormat): Promise<Availability>;
  /** Resolves when the player's consent is known. */
  whenConsentKnown(placement: string): Promise<void>;
}

export function createLoadedAds(ads: BreakAds): LoadedAds {
  /** Reloads the stale ads, by placement. */
  const reloads = new Map<string, () => void>();
  const waiting = new Set<() => void>();
  const onChange = (): void => {
    for (const [placement, reload] of reloads)
      if (!native.isHidden() && !ads.isLoaded(placement) && ads.availability(placement).available)
        reload();
    for (const check of waiting) check();
  };
  ads.on('change', onChange);

  async function load(
    placement: string,
    format: AdFormat | undefined,
    reloadsLeft: number,
  ): Promise<Availability> {
    reloads.delete(placement);
    const availability = await ads.preload(placement, format && { format });
    // An ad that a cooldown or an ad rule holds back is loaded when its time has come.
    const willBeAvailable = availability.available || availability.retryAt !== undefined;
    if (willBeAvailable && reloadsLeft > 0)
      reloads.set(placement, () => void load(placement, format, reloadsLeft - 1));
    return availability;
  }

  return {
    keep: (placement, format) => load(placement, format, maxReloads),
    whenConsentKnown: (placement) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (ads.availability(placement).outcome === 'not_ready') return void waiting.add(check);
          waiting.delete(check);
          resolve();
        };
        check();
      }),
  };
}
