import { cocosDriver, createCocosAds, createTruewardComponent } from '../cocos/index.ts';
import { define } from './start-tag.ts';

// The types of the file for a project: they name the variable too, but nothing of other engines.
declare global {
  interface TruewardGlobal {
    cocosDriver: typeof cocosDriver;
    createCocosAds: typeof createCocosAds;
    createTruewardComponent: typeof createTruewardComponent;
  }
  var Trueward: TruewardGlobal;
}

// Cocos Creator runs a plugin script after the engine and before the project's scripts, on targets
// without a window too.
define({ cocosDriver, createCocosAds, createTruewardComponent });
