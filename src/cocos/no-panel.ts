import type { togglePanel as togglePanelOfAds } from '../debug/open-panel.ts';
import { warnOnce } from '../platform/warn.ts';

/** Replaces `debug/open-panel.ts` in `trueward/cocos-slim`. */
export const togglePanel: typeof togglePanelOfAds = () =>
  warnOnce('`trueward/cocos-slim` has no debug panel. Import `trueward/cocos` during development.');
