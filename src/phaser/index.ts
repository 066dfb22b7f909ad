/**
 * Ads for Phaser games. Importing this entry also types `this.ads` and `this.sceneAds` in scenes.
 *
 * @module trueward/phaser
 */
import type { TruewardPlugin } from './trueward-plugin.ts';
import type { TruewardScenePlugin } from './trueward-scene-plugin.ts';

declare module 'phaser' {
  interface Scene {
    /** Ads, if the game has the plugin with the mapping `ads`. */
    ads: TruewardPlugin;
    /** Ads that end with this scene, if the game has the scene plugin with the mapping `sceneAds`. */
    sceneAds: TruewardScenePlugin;
  }
}

export type { ButtonState, ButtonView } from './button-view.ts';
export { phaserDriver } from './phaser-driver.ts';
export type { RewardedButtonOptions } from './rewarded-button.ts';
export { TruewardPlugin, type TruewardPluginData } from './trueward-plugin.ts';
export { TruewardScenePlugin } from './trueward-scene-plugin.ts';
