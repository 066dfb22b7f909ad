import { expect, test } from 'vitest';
import { createCocosAds } from '../../../src/cocos/cocos-ads.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';

// Node has no document, like a native build or a mini game.

test('without a web page, every call returns a documented result', async () => {
  const ads = createCocosAds(createCocosEngine(), { publishableKey: '', serviceUrl: '' });
  const noPage = { outcome: 'error', reason: 'no_dom' };
  expect(ads.canShow('revive')).toBe(false);
  expect((await ads.preload('revive')).available).toBe(false);
  expect(await ads.showRewarded('revive')).toEqual(noPage);
  expect(await ads.showInterstitial('level-end')).toEqual(noPage);
  expect(await ads.rewards()).toEqual([]);
  ads.on('reward', () => {})();
  ads.destroy();
});
