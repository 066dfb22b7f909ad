import { expect, it, vi } from 'vitest';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import type { Decision } from '../../../protocol/wire.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { custom, decide, usePageAds } from './page-ads-set.ts';

// An ad SDK in the page that has no ad after all, although the service has given it its turn.

const page = usePageAds();
const { adapters, behavior, requests, start, told, types } = page;

/** The ads of Google that a page can't show, and in which step that is known. */
const withoutAd: [PortalBehavior['answer'], 'showRewarded' | 'showInterstitial', string][] = [
  ['no_fill', 'showRewarded', 'no_fill'],
  ['exception', 'showRewarded', 'no_fill'],
  ['no_fill', 'showInterstitial', 'noAdPreloaded'],
  ['capped', 'showInterstitial', 'frequencyCapped'],
  ['failure', 'showInterstitial', 'error'],
];
it.each(rowsForRun(withoutAd, 2))(
  'if Google answers %s to %s, the next ad is shown',
  async (answer, call, detail) => {
    await start(['google_h5']);
    behavior.answer = answer;
    const placement = call === 'showRewarded' ? 'revive' : 'level-end';
    const result = page.ads[call](placement);
    expect((await result).outcome).toBe(call === 'showRewarded' ? 'rewarded' : 'completed');
    expect(adapters()).toEqual([['google_h5'], undefined]);
    expect(told).toEqual(['open', 'start', 'close']);
    const [first] = page.service.events;
    expect(first).toMatchObject({ type: 'error', detail });
    // For a while, it is not asked again for this placement.
    behavior.answer = 'ad';
    void page.ads.preload(placement, { segments: ['again'] });
    void page.ads.preload('other');
    await eventually(() => expect(adapters().slice(2)).toEqual([undefined, ['google_h5']]));
  },
);

it('with no other ad either, the call ends with the service’s reason', async () => {
  await start(['google_h5']);
  behavior.answer = 'no_fill';
  page.service.respond = (request) => {
    requests.push(request);
    return request.page_adapters
      ? decide(request)
      : { status: 'no_fill', reason: 'no_candidates', creative: undefined as never };
  };
  expect(await page.ads.showRewarded('revive')).toMatchObject({ outcome: 'no_fill' });
  expect(await page.ads.showInterstitial('level-end')).toMatchObject({ outcome: 'no_fill' });
  expect(requests).toHaveLength(4);
  expect(told).toEqual(['open', 'close']);
});

it('a service that insists on the page’s ad is asked twice', async () => {
  await start(['google_h5']);
  behavior.answer = 'no_fill';
  page.service.respond = (request) => {
    requests.push(request);
    return decide({ ...request, page_adapters: ['google_h5'] });
  };
  const none = { outcome: 'no_fill', reason: 'no_page_ad' };
  expect(await page.ads.showRewarded('revive')).toMatchObject(none);
  expect(requests).toHaveLength(2);
  // Whether Google has an interstitial is known only when it is shown.
  expect(await page.ads.showInterstitial('level-end')).toMatchObject(none);
  expect(requests).toHaveLength(4);
  expect(document.querySelector('dialog')).toBeNull();
});

it('if one ad SDK has no ad, the next ad is none of another ad SDK', async () => {
  const second = vi.fn(async () => 'completed' as const);
  await start([
    { ...custom(second, 'first'), show: async () => 'no_fill' },
    custom(second, 'second'),
  ]);
  expect((await page.ads.showInterstitial('level-end')).outcome).toBe('completed');
  expect(adapters()).toEqual([['custom:first', 'custom:second'], undefined]);
  expect(second).not.toHaveBeenCalled();
});

/** What a decision of the game's own server comes to if Google doesn't show its ad, and why. */
const provided: [PortalBehavior['answer'], 'showRewarded' | 'showInterstitial', object][] = [
  ['no_fill', 'showRewarded', { outcome: 'no_fill', reason: 'no_page_ad' }],
  ['no_fill', 'showInterstitial', { outcome: 'no_fill', detail: 'noAdPreloaded' }],
  ['capped', 'showInterstitial', { outcome: 'frequency_capped', detail: 'frequencyCapped' }],
  ['failure', 'showInterstitial', { outcome: 'error', detail: 'error' }],
];
it.each(provided)(
  'if Google answers %s to %s, no decision takes the place of the game server’s',
  async (answer, call, expected) => {
    await start(['google_h5']);
    const placement = call === 'showRewarded' ? 'revive' : 'level-end';
    const decision = {
      id: 'dec_01jabcdefghjkmnpqrstvwxyz0',
      status: 'filled',
      placement,
      reward: { type: 'coins', amount: 50 },
      token: 'token',
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      ...decide({ page_adapters: ['google_h5'], placement }),
    } as Decision;
    behavior.answer = answer;
    const preloaded = await page.ads.preload(placement, { decision });
    if (call === 'showInterstitial') {
      expect(preloaded.available).toBe(true);
      expect(await page.ads.showInterstitial(placement)).toMatchObject(expected);
      expect(told).toEqual(['open', 'close']);
    } else expect(preloaded).toMatchObject(expected);
    expect(requests).toEqual([]);
    await eventually(() => expect(types()).toEqual(['error']));
  },
);
