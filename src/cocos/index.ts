/**
 * Ads for games made with Cocos Creator 3.8.
 *
 * @module trueward/cocos
 */
export { cocosDriver } from './cocos-driver.ts';
export type { CocosComponentModule, CocosModule } from './cocos-module.ts';
export { type CocosAdsOptions, createCocosAds } from './cocos-ads.ts';
export { createTruewardComponent, type TruewardComponent } from './cocos-ads.ts';
