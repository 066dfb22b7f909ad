/**
 * Google’s Ad Placement API (`adBreak`, `adConfig`) over Trueward, for games that were written for it.
 *
 * @module trueward/ad-placement
 */
import {
  type AdBreakOptions,
  type AdConfigOptions,
  type AdPlacement,
  type AdPlacementOptions,
  createAdPlacement,
  finish,
} from './ad-placement.ts';
import type { BreakAds } from './run-break.ts';

export type {
  AdBreakOptions,
  AdConfigOptions,
  AdPlacement,
  AdPlacementOptions,
  BreakStatus,
  BreakType,
  PlacementInfo,
} from './ad-placement.ts';
export { installAdsbygoogle } from './adsbygoogle.ts';
export { createAdPlacement } from './ad-placement.ts';

let started: AdPlacement | undefined;
let waiting: AdConfigOptions[] = [];

/**
 * Gives the functions {@link adBreak} and {@link adConfig} of this module their ads, once at the
 * start of the game.
 *
 * @example
 * import { adBreak, adConfig, startAdPlacement } from 'trueward/ad-placement';
 *
 * startAdPlacement(createAds({ publishableKey, serviceUrl }), { placements: { next: 'level-end' } });
 * adBreak({ type: 'next', name: 'level-3', beforeAd: mute, afterAd: unmute });
 */
export function startAdPlacement(ads: BreakAds, options: AdPlacementOptions): void {
  started = createAdPlacement(ads, options);
  for (const config of waiting) started.adConfig(config);
  waiting = [];
}

/** A place in the game where an ad may be shown. Before {@link startAdPlacement} it is `notReady`. */
export function adBreak(options: AdBreakOptions): void {
  if (started) started.adBreak(options);
  else queueMicrotask(() => finish(options, 'notReady'));
}

/** The settings of the game. Before {@link startAdPlacement} they are kept for it. */
export function adConfig(options: AdConfigOptions): void {
  if (started) started.adConfig(options);
  else waiting.push(options);
}
