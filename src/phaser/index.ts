/**
 * Ads for Phaser games. Importing this entry point also adds `this.ads` and `this.sceneAds` to the scene types.
 *
 * @module trueward/phaser
 */
import type { TruewardPlugin } from './trueward-plugin.ts';
import type { TruewardScenePlugin } from './trueward-scene-plugin.ts';

declare module 'phaser' {
  interface Scene {
    /** The game's ads. Available if the game configures the plugin with `mapping: 'ads'`. */
    ads: TruewardPlugin;
    /** Ads scoped to this scene. Available if the game configures the scene plugin with `mapping: 'sceneAds'`. */
    sceneAds: TruewardScenePlugin;
  }
}

export type { ButtonState, ButtonView } from './button-view.ts';
export { phaserDriver } from './phaser-driver.ts';
export type { RewardedButtonOptions } from './rewarded-button.ts';
export { TruewardPlugin, type TruewardPluginData } from './trueward-plugin.ts';
export { TruewardScenePlugin } from './trueward-scene-plugin.ts';
