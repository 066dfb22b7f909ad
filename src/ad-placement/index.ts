/**
 * Google’s Ad Placement API (`adBreak`, `adConfig`) over Trueward, for games that were written for it.
 *
 * @module trueward/ad-placement
 */
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
export { adBreak, adConfig, startAdPlacement } from './drop-in.ts';
