import { phaserDriver, TruewardPlugin, TruewardScenePlugin } from '../phaser/index.ts';
import { extendGlobal } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    phaserDriver: typeof phaserDriver;
    TruewardPlugin: typeof TruewardPlugin;
    TruewardScenePlugin: typeof TruewardScenePlugin;
  }
  interface Window {
    /** Phaser’s `load.plugin('TruewardPlugin', …)` looks up the class by this name. */
    TruewardPlugin?: typeof TruewardPlugin;
    /** Phaser’s `load.scenePlugin('TruewardScenePlugin', …)` looks up the class by this name. */
    TruewardScenePlugin?: typeof TruewardScenePlugin;
  }
}

const trueward = extendGlobal({ phaserDriver, TruewardPlugin, TruewardScenePlugin });
window.TruewardPlugin = trueward.TruewardPlugin;
window.TruewardScenePlugin = trueward.TruewardScenePlugin;
