import { expect, it, vi } from 'vitest';
import { installStandIn } from '../../../demo/src/portals/stand-in.ts';
import { createAds, type PortalAdapter } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey } from '../../support/stub-service.ts';
import { custom, usePageAds } from './page-ads-set.ts';

// Google's H5 ads, and an ad SDK of one's own, as sources of the service's decision on one's own page.

const page = usePageAds();
const { adapters, behavior, create, start, told, types } = page;
const never = () => new Promise<never>(() => undefined);

it('a page ad is shown, reported and rewarded like any other, and nothing is invented', async () => {
  await start(['google_h5']);
  const rewarded = new Promise((resolve) => page.ads.on('reward', resolve));
  const result = await page.ads.showRewarded('revive');
  expect(result).toMatchObject({ outcome: 'rewarded', reward: { type: 'coins', amount: 50 } });
  await rewarded;
  await eventually(() => expect(types()).toEqual(['start', 'complete', 'close']));
  expect(page.service.events.filter(({ visible, watched_ms: ms }) => visible ?? ms)).toEqual([]);
  expect(told).toEqual(['open', 'start', 'close']);
  expect(adapters()).toEqual([['google_h5']]);
});

it('a preloaded page ad needs no other request', async () => {
  await start(['google_h5']);
  expect(await page.ads.preload('revive')).toMatchObject({ available: true });
  expect(page.ads.isLoaded('revive')).toBe(true);
  expect((await page.ads.showRewarded('revive')).outcome).toBe('rewarded');
  expect(adapters()).toEqual([['google_h5']]);
});

it('an ad that the player closes earns nothing', async () => {
  await start(['google_h5']);
  behavior.play = async () => false;
  expect(await page.ads.showRewarded('revive')).toMatchObject({ outcome: 'dismissed' });
  await eventually(() => expect(types()).toEqual(['start', 'skip', 'close']));
});

it.each<[string, () => ReturnType<PortalAdapter['show']>, string, string[]]>([
  ['fails', () => Promise.reject(new Error('boom')), 'error', ['start', 'error', 'close']],
  ['lies', async () => 'yes' as never, 'error', ['start', 'error', 'close']],
  ['completes', async () => 'completed' as const, 'rewarded', ['start', 'complete', 'close']],
])('an adapter of one’s own that %s', async (_case, answer, outcome, events) => {
  await start([custom(answer)]);
  expect((await page.ads.showRewarded('revive')).outcome).toBe(outcome);
  expect(adapters()).toEqual([['custom:network']]);
  await eventually(() => expect(types()).toEqual(events));
});

it('an adapter learns for which decision it shows an ad, so that the network can name it', async () => {
  const show = vi.fn<PortalAdapter['show']>(async () => 'completed');
  await start([{ ...custom(never), show }]);
  const { decisionId } = await page.ads.showRewarded('revive');
  expect(decisionId).toMatch(/^dec_/);
  expect(show.mock.calls[0]?.[2].decisionId).toBe(decisionId);
});

it('an ad whose SDK does not say that it has begun is reported all the same', async () => {
  await start([{ ...custom(never), show: async () => 'completed' }]);
  expect((await page.ads.showRewarded('revive')).outcome).toBe('rewarded');
  await eventually(() => expect(types()).toEqual(['start', 'complete', 'close']));
  expect(told).toEqual(['open', 'start', 'close']);
});

/** What a game may pass by mistake, and what it is told. Its other ads are loaded as usual. */
const mistakes: [string, unknown, RegExp][] = [
  ['no list', 'google_h5', /must be a list .* got "google_h5"/],
  ['a portal', ['poki'], /must be a list .* got "poki"/],
  [
    'a name that the service would refuse',
    [{ ...custom(never), name: 'My Network' }],
    /got "My Network"/,
  ],
  ['an adapter without show()', [{ name: 'network', load() {} }], /got "network"/],
  ['nothing', [undefined], /got undefined/],
  [
    'an adapter that can’t be loaded',
    [{ ...custom(never), load: () => Promise.reject(new Error('blocked')) }],
    /could not be loaded: blocked/,
  ],
];
it.each(mistakes)('explains what is wrong with %s', async (_case, pageAds, message) => {
  const errors: string[] = [];
  const note = (event: ErrorEvent): void => {
    event.preventDefault();
    errors.push(event.message);
  };
  window.addEventListener('error', note);
  page.ads = create(pageAds as never);
  await eventually(() => expect(errors).toEqual([expect.stringMatching(message)]));
  window.removeEventListener('error', note);
  expect(await page.ads.preload('revive')).toMatchObject({ available: true });
  expect(adapters()).toEqual([undefined]);
});

it('on a portal, the ad SDKs of the page are not used', async () => {
  installStandIn('google_h5', behavior);
  const portalRewards = { revive: { type: 'lives', amount: 1 } };
  const load = vi.fn();
  page.ads = createAds({
    // Without a key, the reward would wait for the next test of this page.
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    portal: 'google_h5',
    portalRewards,
    pageAds: [{ ...custom(never), load }],
  });
  await eventually(() => expect(page.ads.canShow('revive')).toBe(true));
  expect(await page.ads.showRewarded('revive')).toMatchObject({ evidence: 'client_attested' });
  expect(load).not.toHaveBeenCalled();
});
