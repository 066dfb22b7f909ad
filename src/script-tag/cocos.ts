import { cocosDriver, createCocosAds, createTruewardComponent } from '../cocos/index.ts';
import { define } from './global.ts';

// Cocos Creator runs a plugin script after the engine and before the project's scripts, on targets
// without a window too.
define({ cocosDriver, createCocosAds, createTruewardComponent });
