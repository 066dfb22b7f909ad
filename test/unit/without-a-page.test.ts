import { expect, it, vi } from 'vitest';
import { createAds, OptionError } from '../../src/index.ts';
import { createPublishableKey } from '../support/stub-service.ts';

// Node has no document, as in server-side rendering.

it('without a page, calls have no effect but return results', async () => {
  const fetch = vi.fn();
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch,
  });
  const listener = vi.fn();
  const remove = ads.on('change', listener);
  ads.once('reward', listener);
  ads.off('reward');
  const noPage = { outcome: 'error', reason: 'no_dom' };
  expect(ads.canShow('revive')).toBe(false);
  expect(ads.availability('revive')).toEqual({
    available: false,
    outcome: 'error',
    reason: 'no_dom',
  });
  expect(await ads.preload('revive')).toEqual({
    available: false,
    outcome: 'error',
    reason: 'no_dom',
  });
  expect(await ads.showRewarded('revive')).toEqual(noPage);
  expect(await ads.showInterstitial('level-end')).toEqual(noPage);
  const banner = ads.mountBanner('menu', {} as HTMLElement);
  banner.remove();
  expect(await banner.result).toEqual(noPage);
  expect(await ads.rewardStatus('dec_1')).toMatchObject({ state: 'none', reason: 'no_dom' });
  expect(await ads.rewards()).toEqual([]);
  ads.setConsent({ status: 'granted' });
  ads.simulate('no_fill');
  ads.toggleDebugPanel();
  expect(ads.diagnostics()).toMatchObject({ environment: 'sandbox', showing: null });
  remove();
  ads.destroy();
  expect(listener).not.toHaveBeenCalled();
  expect(fetch).not.toHaveBeenCalled();
});

it('validates the options even without a page', () => {
  expect(() => createAds({ publishableKey: 'sk_live_1', serviceUrl: 'https://ads.test' })).toThrow(
    OptionError,
  );
});
