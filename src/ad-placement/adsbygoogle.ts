import { attempt } from '../platform/guard.ts';
import type { AdPlacement } from './ad-placement.ts';
import { looksLikeBreak, readProperty } from './read-break.ts';

/** The object that replaces the `window.adsbygoogle` array. */
interface Adsbygoogle {
  /** Tells other scripts that `adsbygoogle` is already installed. */
  loaded: true;
  /** Lets a second copy of this module on the page recognize this implementation. */
  owner: 'trueward';
  push(...entries: unknown[]): void;
}

/** The globals that Google’s API defines. The page may contain elements with these ids. */
interface GooglePage {
  adsbygoogle?: unknown;
  adBreak?: unknown;
  adConfig?: unknown;
}

const configKeys = ['onReady', 'preloadAdBreaks', 'sound'];

/**
 * Replaces `window.adsbygoogle`, the array through which games call Google’s Ad Placement API. Handles its existing
 * entries in order, and then each new entry as it is pushed, also by code that has kept the previous array or object.
 * Passes ad breaks to `adBreak()` and settings to `adConfig()`. Ignores anything else, such as an entry for display ads.
 * Defines `window.adBreak` and `window.adConfig` unless they exist. A second call is a no-op.
 *
 * @example
 * installAdsbygoogle(createAdPlacement(ads, { placements: { interstitial: 'level-end', reward: 'revive' } }));
 */
export function installAdsbygoogle(placement: AdPlacement): void {
  const page = window as GooglePage;
  const existing = page.adsbygoogle;
  if (readProperty(existing, 'owner') === 'trueward') return;

  function handle(entry: unknown): void {
    if (looksLikeBreak(entry)) placement.adBreak(entry as never);
    else if (configKeys.some((key) => readProperty(entry, key) !== undefined))
      placement.adConfig(entry as never);
  }
  const push = (...entries: unknown[]): void => entries.forEach(handle);
  protectGlobal(page, { loaded: true, owner: 'trueward', push });
  if (typeof page.adBreak !== 'function') page.adBreak = placement.adBreak;
  if (typeof page.adConfig !== 'function') page.adConfig = placement.adConfig;
  if (Array.isArray(existing)) existing.forEach(handle);
  // Some code keeps the array, or the object that Google’s script has put in its place.
  if (typeof existing === 'object' && existing !== null)
    attempt(() =>
      Object.defineProperty(existing, 'push', { configurable: true, value: push, writable: true }),
    );
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
