import { expect } from 'vitest';
import type { Ads, AdsOptions } from '../../../src/index.ts';
import type { PortalAdapter } from '../../../src/portal/adapter.ts';
import { eventually } from '../../support/eventually.ts';
import { picture } from '../../support/stub-service.ts';
import { html } from '../ad-break/stage-set.ts';
import type { SdkWatch } from '../watch-sdk.ts';
import { never, type startAdsWith } from './destroyed-ads.ts';

export function addElement(): HTMLElement {
  const element = document.createElement('div');
  element.style.cssText = 'position: fixed; left: 0; top: 0; width: 200px; height: 100px';
  document.body.append(element);
  return element;
}

const userToken = `x.${btoa(JSON.stringify({ sub: 'player-1' }))}.x`;
let tokenCalls = 0;
const poll = (ads: Ads) => ads.rewardStatus('dec_00000000000000000000000001');

interface Phase {
  options?: Partial<AdsOptions>;
  /** What the service answers: nothing until the ads have ended, or an error. */
  held?: string;
  broken?: string;
  locked?: string;
  respond?: Parameters<typeof startAdsWith>[1]['respond'];
  start(ads: Ads, watch: SdkWatch): Promise<unknown>[] | Promise<Promise<unknown>[]>;
}

const begin = async (ads: Ads): Promise<Promise<unknown>[]> => {
  const started = new Promise<void>((resolve) => ads.once('start', () => resolve()));
  const calls = [ads.showRewarded('revive')];
  await started;
  return calls;
};
const reach = (watch: SdkWatch, what: string) =>
  eventually(() => expect(watch.actions()).toContain(what));

const portal: PortalAdapter = {
  name: 'myportal',
  load() {},
  async show(_kind, _placement, { onStart }) {
    onStart();
    return never();
  },
};

/** What `Ads` can be doing when they are destroyed. */
export const phases: Record<string, Phase> = {
  'just created': { start: () => [] },
  'waiting for consent': { options: { consent: 'page' }, start: (ads) => [ads.preload('revive')] },
  'identifying the player': {
    options: { userToken: () => never(), userRef: undefined as never },
    start: (ads) => [ads.showRewarded('revive'), ads.wallet.refresh()],
  },
  'requesting an ad': {
    held: '/v1/decisions',
    async start(ads, watch) {
      const calls = [ads.showRewarded('revive'), ads.preload('double')];
      await reach(watch, 'request /v1/decisions');
      return calls;
    },
  },
  'loading media': {
    respond: () => ({
      ...picture(200),
      creative: { id: 'crv_1', alt: '', media: html('') },
    }),
    async start(ads) {
      const calls = [ads.showRewarded('revive')];
      await eventually(() => expect(document.querySelector('iframe')).not.toBeNull());
      return calls;
    },
  },
  'with an ad loaded': {
    start: async (ads) => [await ads.preload('revive')].map(async (it) => it),
  },
  'without a fill': {
    respond: () => ({
      status: 'no_fill',
      reason: 'cooldown',
      retry_at: new Date(Date.now() + 60_000).toISOString(),
    }),
    start: async (ads) => [await ads.preload('revive')].map(async (it) => it),
  },
  offline: {
    broken: '/v1/decisions',
    start: async (ads) => [await ads.preload('revive')].map(async (it) => it),
  },
  'showing an ad': { respond: () => picture(60_000), start: begin },
  'failing to send events': {
    broken: '/v1/events',
    respond: () => picture(60_000),
    async start(ads, watch) {
      const calls = await begin(ads);
      await reach(watch, 'request /v1/events');
      return calls;
    },
  },
  'sending events': {
    held: '/v1/events',
    respond: () => picture(60_000),
    async start(ads, watch) {
      const calls = await begin(ads);
      await reach(watch, 'request /v1/events');
      return calls;
    },
  },
  'asking for a reward': {
    held: '/v1/decisions/',
    async start(ads, watch) {
      await ads.showRewarded('revive');
      watch.clear();
      return [poll(ads)];
    },
  },
  'waiting for a confirmation': {
    broken: '/v1/events',
    async start(ads) {
      const closed = new Promise<void>((resolve) => ads.once('close', () => resolve()));
      const calls = [ads.showRewarded('revive')];
      await closed;
      return calls;
    },
  },
  'delivering a reward': {
    async start(ads, watch) {
      ads.on('reward', () => {
        watch.act('handler');
        return never();
      });
      const calls = [ads.showRewarded('revive')];
      await reach(watch, 'handler');
      return calls;
    },
  },
  'showing a banner': {
    respond: () => ({ ...picture(0), format: 'banner' }),
    async start(ads) {
      const slot = addElement();
      const banner = ads.mountBanner('lobby', slot);
      await eventually(() => expect(slot.childNodes).toHaveLength(1));
      return [banner.result];
    },
  },
  'reading the wallet': {
    options: { userToken },
    held: '/v1/wallet',
    async start(ads, watch) {
      const calls = [ads.wallet.refresh(), ads.wallet.spend('coins', 1)];
      await reach(watch, 'request /v1/wallet');
      return calls;
    },
  },
  'waiting for the wallet’s token': {
    options: {
      userToken() {
        tokenCalls += 1;
        return never();
      },
      userRef: undefined as never,
    },
    async start(ads) {
      const before = tokenCalls;
      const calls = [ads.wallet.refresh()];
      await eventually(() => expect(tokenCalls).toBeGreaterThan(before));
      return calls;
    },
  },
  'waiting for another tab to deliver a spend': {
    options: { userToken },
    locked: 'spend',
    async start(ads, watch) {
      const { outcome } = await ads.wallet.spend('coins', 1);
      expect(outcome).toBe('spent');
      await eventually(() => expect(watch.running()).toContain('setTimeout 20000'));
      return [];
    },
  },
  'unable to spend': {
    options: { userToken },
    broken: '/v1/wallet',
    start: async (ads) => [await ads.wallet.spend('coins', 1)].map(async (it) => it),
  },
  'with the debug panel open': {
    async start(ads) {
      ads.toggleDebugPanel();
      const find = () => document.querySelector('[data-trueward=debug]');
      await eventually(() => expect(find()).not.toBeNull());
      return [];
    },
  },
  'on a portal': {
    options: { portal, portalRewards: { revive: { type: 'coins', amount: 1 } } } as object,
    async start(ads) {
      await eventually(() => expect(ads.canShow('revive')).toBe(true));
      return begin(ads);
    },
  },
};

/** Calls everything of the public API that starts something. */
export async function useAll(ads: Ads): Promise<void> {
  ads.setUser({ userRef: 'player-2' });
  ads.setConsent({ status: 'granted' });
  ads.simulate('no_fill');
  ads.toggleDebugPanel();
  ads.availability('revive');
  ads.isAdFree();
  await Promise.all([
    ads.showRewarded('revive'),
    ads.showInterstitial('revive'),
    ads.preload('revive'),
    ads.mountBanner('revive', document.body).result,
    ads.wallet.refresh(),
    ads.wallet.spend('coins', 1),
    poll(ads),
    ads.rewards(),
  ]);
}
