/**
 * Ads for Phaser games. Importing this entry point also adds `this.ads` and `this.gameAds` to the scene types.
 *
 * @module trueward/phaser
 */
import type { SceneAds } from './scene-ads.ts';
import type { TruewardPlugin } from './trueward-plugin.ts';

declare module 'phaser' {
  interface Scene {
    /** This scene's ads: handlers, buttons, banners and ads end with the scene. Undefined without the plugin. */
    ads: SceneAds;
    /** The whole game's ads: handlers stay until they are removed. Undefined without the plugin. */
    gameAds: TruewardPlugin;
  }
}

export type { ButtonState, ButtonView } from './button-view.ts';
export { phaserDriver } from './phaser-driver.ts';
export type { SceneAds } from './scene-ads.ts';
export type { RewardedButtonOptions } from './rewarded-button.ts';
export { TruewardPlugin, type TruewardPluginData } from './trueward-plugin.ts';
export type { WalletTextOptions } from './wallet-text.ts';
