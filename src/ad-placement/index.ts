/**
 * Google’s Ad Placement API (`adBreak`, `adConfig`) on top of Trueward, for games written for that API.
 *
 * @module trueward/ad-placement
 */
import {
  type AdConfigOptions,
  type AdPlacement,
  type AdPlacementOptions,
  createAdPlacement,
  callAdBreakDone,
} from './ad-placement.ts';
import type { AdBreakOptions } from './run-break.ts';
import type { BreakAds } from './run-break.ts';
import { readBreak } from './read-break.ts';

export type { AdConfigOptions, AdPlacement, AdPlacementOptions } from './ad-placement.ts';
export type { AdBreakOptions, BreakStatus, BreakType, PlacementInfo } from './run-break.ts';
export { installAdsbygoogle } from './adsbygoogle.ts';
export { createAdPlacement } from './ad-placement.ts';

let api: AdPlacement | undefined;
let pendingConfigs: AdConfigOptions[] = [];

/**
 * Connects this module’s {@link adBreak} and {@link adConfig} to ads. Call it once, when the game starts.
 *
 * @example
 * import { adBreak, adConfig, startAdPlacement } from 'trueward/ad-placement';
 *
 * startAdPlacement(createAds({ publishableKey, serviceUrl }), { placements: { next: 'level-end' } });
 * adBreak({ type: 'next', name: 'level-3', beforeAd: mute, afterAd: unmute });
 */
export function startAdPlacement(ads: BreakAds, options: AdPlacementOptions): void {
  api = createAdPlacement(ads, options);
  for (const config of pendingConfigs) api.adConfig(config);
  pendingConfigs = [];
}

/** Starts an ad break. Before {@link startAdPlacement}, the result is `notReady`. */
export function adBreak(options: AdBreakOptions): void {
  if (api) api.adBreak(options);
  else queueMicrotask(() => callAdBreakDone(readBreak(options).options, 'notReady'));
}

/** Configures the game's ads. Calls made before {@link startAdPlacement} take effect when it is called. */
export function adConfig(options: AdConfigOptions): void {
  if (api) api.adConfig(options);
  else pendingConfigs.push(options);
}
