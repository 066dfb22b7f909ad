import type { AdConfigOptions, AdPlacement } from './ad-placement.ts';
import type { AdBreakOptions } from './run-break.ts';

/** The object that replaces the array `window.adsbygoogle`. */
interface Adsbygoogle {
  /** Tells scripts that would install `adsbygoogle` that it is already installed. */
  loaded: true;
  /** Identifies this implementation to a second copy of this module on the page. */
  owner: 'trueward';
  push(...entries: unknown[]): void;
}

/** The globals of Google’s API. */
type GooglePage = Partial<AdPlacement> & { adsbygoogle?: Adsbygoogle | unknown[] };

const configuration = ['onReady', 'preloadAdBreaks', 'sound'] as const;

/**
 * Replaces `window.adsbygoogle`, through which games call Google’s Ad Placement API. Runs the entries that are already
 * in it, in order, and then each new entry as it is pushed. An object with a `type` goes to `adBreak()`, and an object
 * with a setting goes to `adConfig()`. Anything else, such as an entry for display ads, is ignored. Defines
 * `window.adBreak` and `window.adConfig` unless the page already has. A second call has no effect.
 *
 * @example
 * installAdsbygoogle(createAdPlacement(ads, { placements: { interstitial: 'level-end', reward: 'revive' } }));
 */
export function installAdsbygoogle(placement: AdPlacement): void {
  const page = window as GooglePage;
  const existing = page.adsbygoogle ?? [];
  if ('owner' in existing) return;

  function handle(entry: unknown): void {
    if (typeof entry !== 'object' || entry === null) return;
    if ('type' in entry) placement.adBreak(entry as AdBreakOptions);
    else if (configuration.some((name) => name in entry))
      placement.adConfig(entry as AdConfigOptions);
  }
  const installed: Adsbygoogle = {
    loaded: true,
    owner: 'trueward',
    push: (...entries) => entries.forEach(handle),
  };
  protect(page, installed);
  page.adBreak ??= placement.adBreak;
  page.adConfig ??= placement.adConfig;
  if (Array.isArray(existing)) existing.forEach(handle);
}

/**
 * Protects the global from being overwritten. Google’s script, or the stub that an ad blocker serves in its place, may
 * load later and replace it, and the game’s ad breaks would then never end. An assignment is ignored instead of
 * throwing an error, because the usual `window.adsbygoogle = window.adsbygoogle || []` also runs in modules, which are
 * strict.
 */
function protect(page: GooglePage, installed: Adsbygoogle): void {
  try {
    Object.defineProperty(page, 'adsbygoogle', {
      configurable: true,
      enumerable: true,
      get: () => installed,
      set: () => {},
    });
  } catch {
    // A global declared with `var` cannot be redefined, only assigned.
    page.adsbygoogle = installed;
  }
}
