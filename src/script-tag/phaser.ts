import { phaserDriver, TruewardPlugin, TruewardScenePlugin } from '../phaser/index.ts';

declare global {
  interface Window {
    /** Phaser’s `load.plugin('TruewardPlugin', …)` looks the class up by this name. */
    TruewardPlugin?: typeof TruewardPlugin;
    /** The same for `load.scenePlugin('TruewardScenePlugin', …)`. */
    TruewardScenePlugin?: typeof TruewardScenePlugin;
    truewardPhaserDriver?: typeof phaserDriver;
  }
}

// A second load of this file must not bring a second class: the first one's games would not know it.
window.TruewardPlugin ??= TruewardPlugin;
window.TruewardScenePlugin ??= TruewardScenePlugin;
window.truewardPhaserDriver ??= phaserDriver;
