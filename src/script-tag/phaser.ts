import { phaserDriver, TruewardPlugin } from '../phaser/index.ts';

declare global {
  interface Window {
    /** Phaser’s `load.plugin('TruewardPlugin', …)` looks the class up by this name. */
    TruewardPlugin?: typeof TruewardPlugin;
    truewardPhaserDriver?: typeof phaserDriver;
  }
}

window.TruewardPlugin = TruewardPlugin;
window.truewardPhaserDriver = phaserDriver;
