/**
 * Ads for Phaser games. Importing this entry also types `this.ads` in scenes.
 *
 * @packageDocumentation
 */
import type { TruewardPlugin } from './trueward-plugin.ts';

declare module 'phaser' {
  interface Scene {
    /** Ads, where the game has the plugin with the mapping `ads`. */
    ads: TruewardPlugin;
  }
}

export { phaserDriver } from './phaser-driver.ts';
export { TruewardPlugin, type TruewardPluginData } from './trueward-plugin.ts';
