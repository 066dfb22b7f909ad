import { cocosDriver, createCocosAds, createTruewardComponent } from '../cocos/index.ts';
import { extendGlobal } from './start-tag.ts';

// The types that a Cocos project sees: the global variable, without the exports for other engines.
declare global {
  interface TruewardGlobal {
    cocosDriver: typeof cocosDriver;
    createCocosAds: typeof createCocosAds;
    createTruewardComponent: typeof createTruewardComponent;
  }
  var Trueward: TruewardGlobal;
}

// Cocos Creator runs a plugin script after the engine and before the project's scripts, even on targets without a
// `window` object.
extendGlobal({ cocosDriver, createCocosAds, createTruewardComponent });
