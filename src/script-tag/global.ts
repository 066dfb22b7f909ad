import type { createAdPlacement, installAdsbygoogle } from '../ad-placement/index.ts';
import type { cocosDriver, createCocosAds, createTruewardComponent } from '../cocos/index.ts';
import type { Ads, createAds, OptionError } from '../index.ts';
import type { phaserDriver, TruewardPlugin, TruewardScenePlugin } from '../phaser/index.ts';

/** Called with the ads that the tag has started. */
export type Command = (ads: Ads) => void;

/** The one global of the script tags. A page may make it before any of them has loaded, with a `queue`. */
export interface TruewardGlobal {
  /** Commands that wait for the ads of the tag: an array until there are any, this object afterwards. */
  queue: Command[] | { push(...commands: Command[]): void };
  /** Of `trueward.js` and `trueward-ad-placement.js`. */
  createAds: typeof createAds;
  OptionError: typeof OptionError;
  /** Of `trueward-phaser.js`. */
  phaserDriver: typeof phaserDriver;
  TruewardPlugin: typeof TruewardPlugin;
  TruewardScenePlugin: typeof TruewardScenePlugin;
  /** Of `trueward-cocos.js`. */
  cocosDriver: typeof cocosDriver;
  createCocosAds: typeof createCocosAds;
  createTruewardComponent: typeof createTruewardComponent;
  /** Of `trueward-ad-placement.js`. */
  createAdPlacement: typeof createAdPlacement;
  installAdsbygoogle: typeof installAdsbygoogle;
}

declare global {
  var Trueward: TruewardGlobal | undefined;
}

/**
 * Adds what a file brings to the global. What is there already stays: a second copy of a file must not
 * replace a class, since games made with the first one would not know it.
 */
export function define(members: Partial<TruewardGlobal>): TruewardGlobal {
  const known = globalThis.Trueward;
  // An element with the id `Trueward` is a global of that name, too.
  const own: Partial<TruewardGlobal> = known?.queue ? known : { queue: [] };
  const all = Object.assign(own, { ...members, ...own });
  return (globalThis.Trueward = all as TruewardGlobal);
}
