import type { AdConfigOptions, AdPlacement } from './ad-placement.ts';
import type { AdBreakOptions } from './run-break.ts';

/** The object that replaces the `window.adsbygoogle` array. */
interface Adsbygoogle {
  /** Tells other scripts that `adsbygoogle` is already installed. */
  loaded: true;
  /** Lets a second copy of this module on the page recognize this implementation. */
  owner: 'trueward';
  push(...entries: unknown[]): void;
}

/** The globals that Google’s API defines. */
type GooglePage = Partial<AdPlacement> & { adsbygoogle?: Adsbygoogle | unknown[] };

const configKeys = ['onReady', 'preloadAdBreaks', 'sound'] as const;

/**
 * Replaces `window.adsbygoogle`, the array through which games call Google’s Ad Placement API. Handles its existing
 * entries in order, and then each new entry as it is pushed. Passes objects with a `type` to `adBreak()`, and objects
 * with a setting to `adConfig()`. Ignores anything else, such as an entry for display ads. Defines `window.adBreak` and
 * `window.adConfig` unless they exist. A second call is a no-op.
 *
 * @example
 * installAdsbygoogle(createAdPlacement(ads, { placements: { interstitial: 'level-end', reward: 'revive' } }));
 */
export function installAdsbygoogle(placement: AdPlacement): void {
  const page = window as GooglePage;
  const existingQueue = page.adsbygoogle ?? [];
  if ('owner' in existingQueue) return;

  function handle(entry: unknown): void {
    if (typeof entry !== 'object' || entry === null) return;
    if ('type' in entry) placement.adBreak(entry as AdBreakOptions);
    else if (configKeys.some((name) => name in entry)) placement.adConfig(entry as AdConfigOptions);
  }
  const replacement: Adsbygoogle = {
    loaded: true,
    owner: 'trueward',
    push: (...entries) => entries.forEach(handle),
  };
  protectGlobal(page, replacement);
  page.adBreak ??= placement.adBreak;
  page.adConfig ??= placement.adConfig;
  if (Array.isArray(existingQueue)) existingQueue.forEach(handle);
}

/**
 * Protects the global from being overwritten. If Google’s script or an ad blocker’s stub loaded later and replaced it,
 * the game’s ad breaks would never end. Assignments are no-ops and do not throw, because the usual
 * `window.adsbygoogle = window.adsbygoogle || []` may run in a module, which is always in strict mode.
 */
function protectGlobal(page: GooglePage, replacement: Adsbygoogle): void {
  try {
    Object.defineProperty(page, 'adsbygoogle', {
      configurable: true,
      enumerable: true,
      get: () => replacement,
      set: () => {},
    });
  } catch {
    // A global declared with `var` cannot be redefined, only assigned.
    page.adsbygoogle = replacement;
  }
}
