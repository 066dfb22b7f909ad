import { createAds } from '../create-ads.ts';
import type { AdsOptions } from '../options.ts';
import { type GameAds, unavailableAds } from '../unavailable-ads.ts';
import { cocosDriver } from './cocos-driver.ts';
import type { CocosModule } from './cocos-module.ts';

/** The options of `createAds()`; the engine is this game. */
export type CocosAdsOptions = Omit<AdsOptions, 'engine'>;

/**
 * Ads for a Cocos Creator game. On a target without a web page (native, mini games) nothing throws:
 * `canShow()` is `false` there, and every show ends with the outcome `error` and the reason `no_dom`.
 *
 * @throws OptionError for a mistake in the options, on targets with a web page.
 *
 * @example
 * import * as cc from 'cc';
 * import { createCocosAds } from 'trueward/cocos';
 *
 * const ads = createCocosAds(cc, { publishableKey, serviceUrl, userRef });
 * const { outcome } = await ads.showRewarded('revive');
 */
export function createCocosAds(cc: CocosModule, options: CocosAdsOptions): GameAds {
  if (!hasPage()) return unavailableAds('no_dom');
  return createAds({ ...options, engine: cocosDriver(cc) });
}

/** Mini games imitate `document`, but not the element that an ad is shown in. */
function hasPage(): boolean {
  return typeof document !== 'undefined' && typeof HTMLDialogElement !== 'undefined';
}
