import type { AdBreakOptions, AdConfigOptions, AdPlacement } from './ad-placement.ts';

/** What takes the place of the array `window.adsbygoogle`. */
interface Adsbygoogle {
  /** By this, scripts that would take the name over see that somebody has. */
  loaded: true;
  /** Whose it is: there may be a second copy of this module on the page. */
  owner: 'trueward';
  push(...entries: unknown[]): void;
}

/** The names of Google’s API on a page. */
type GooglePage = Partial<AdPlacement> & { adsbygoogle?: Adsbygoogle | unknown[] };

const configuration = ['onReady', 'preloadAdBreaks', 'sound'] as const;

/**
 * Takes `window.adsbygoogle`, through which games call Google’s Ad Placement API: runs what was pushed to
 * it before, in its order, and from here on what is pushed. An object with a `type` is an ad break, one with
 * a setting goes to `adConfig()`; anything else, as for display ads, is ignored. Defines `window.adBreak`
 * and `window.adConfig` where the page has not. A second call has no effect.
 *
 * @example
 * installAdsbygoogle(createAdPlacement(ads, { placements: { interstitial: 'level-end', reward: 'revive' } }));
 */
export function installAdsbygoogle(placement: AdPlacement): void {
  const page = window as GooglePage;
  const before = page.adsbygoogle ?? [];
  if ('owner' in before) return;

  function take(entry: unknown): void {
    if (typeof entry !== 'object' || entry === null) return;
    if ('type' in entry) placement.adBreak(entry as AdBreakOptions);
    else if (configuration.some((name) => name in entry))
      placement.adConfig(entry as AdConfigOptions);
  }
  const installed: Adsbygoogle = {
    loaded: true,
    owner: 'trueward',
    push: (...entries) => entries.forEach(take),
  };
  keep(page, installed);
  page.adBreak ??= placement.adBreak;
  page.adConfig ??= placement.adConfig;
  if (Array.isArray(before)) before.forEach(take);
}

/**
 * Keeps the name for good: Google’s script, or what an ad blocker puts in its place, may load later and
 * assign to it, and the breaks of the game would never end. An assignment has no effect instead of throwing,
 * because the usual `window.adsbygoogle = window.adsbygoogle || []` runs in modules too, which are strict.
 */
function keep(page: GooglePage, installed: Adsbygoogle): void {
  try {
    Object.defineProperty(page, 'adsbygoogle', {
      configurable: true,
      enumerable: true,
      get: () => installed,
      set: () => {},
    });
  } catch {
    // What was declared by `var` can only be assigned to.
    page.adsbygoogle = installed;
  }
}
