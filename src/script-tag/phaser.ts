import { phaserDriver, TruewardPlugin } from '../phaser/index.ts';
import { warnOnce } from '../platform/warn.ts';
import { findTag } from './find-tag.ts';
import { extendGlobal } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    phaserDriver: typeof phaserDriver;
    TruewardPlugin: typeof TruewardPlugin;
  }
  interface Window {
    /** Phaser’s `load.plugin('TruewardPlugin', …)` looks up the class by this name. */
    TruewardPlugin?: typeof TruewardPlugin;
  }
}

const trueward = extendGlobal({ phaserDriver, TruewardPlugin });
window.TruewardPlugin = trueward.TruewardPlugin;

const tag = findTag();
if (tag?.hasAttribute('data-key') && tag.getAttribute('src')?.includes('trueward-phaser'))
  warnOnce(
    'the tag of trueward-phaser.js has a `data-key`, which does not start ads. Pass the key in the plugin’s `data`.',
  );
