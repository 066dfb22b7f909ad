import { phaserDriver, TruewardPlugin, TruewardScenePlugin } from '../phaser/index.ts';
import { define } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    phaserDriver: typeof phaserDriver;
    TruewardPlugin: typeof TruewardPlugin;
    TruewardScenePlugin: typeof TruewardScenePlugin;
  }
  interface Window {
    /** Phaser’s `load.plugin('TruewardPlugin', …)` looks the class up by this name. */
    TruewardPlugin?: typeof TruewardPlugin;
    /** Phaser’s `load.scenePlugin('TruewardScenePlugin', …)` looks this class up by name too. */
    TruewardScenePlugin?: typeof TruewardScenePlugin;
  }
}

const defined = define({ phaserDriver, TruewardPlugin, TruewardScenePlugin });
window.TruewardPlugin = defined.TruewardPlugin;
window.TruewardScenePlugin = defined.TruewardScenePlugin;
