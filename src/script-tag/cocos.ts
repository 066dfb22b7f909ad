import { cocosDriver, createCocosAds, createTruewardComponent } from '../cocos/index.ts';

interface TruewardCocos {
  cocosDriver: typeof cocosDriver;
  createCocosAds: typeof createCocosAds;
  createTruewardComponent: typeof createTruewardComponent;
}

declare global {
  var TruewardCocos: TruewardCocos | undefined;
}

// Cocos Creator runs a plugin script after the engine and before the project's scripts, on targets
// without a window too.
globalThis.TruewardCocos = { cocosDriver, createCocosAds, createTruewardComponent };
