import { afterEach, expect, it, vi } from 'vitest';
import { type Ads, createAds } from '../../../src/index.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';

const instances: Ads[] = [];
afterEach(() => instances.splice(0).forEach((ads) => ads.destroy()));

it('a preload can be aborted after the request options have changed', async () => {
  const onRequest = vi.fn<(signal: AbortSignal) => void>();
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch: (_input, init) => {
      if (init?.signal) onRequest(init.signal);
      return new Promise(() => undefined);
    },
  });
  const preloaded = ads.preload('revive', { signal: new AbortController().signal });
  await eventually(() => expect(onRequest).toHaveBeenCalled());
  ads.setConsent({ status: 'denied' });
  ads.destroy();
  expect(onRequest.mock.calls[0]?.[0].aborted).toBe(true);
  expect(await preloaded).toEqual({ available: false, outcome: 'aborted' });
});

it('does not lose a completion if the game destroys the SDK when the ad closes', async () => {
  const service = createStubService();
  service.respond = () => picture(200);
  const publishableKey = createPublishableKey();
  const start = (): Ads => {
    const ads = createAds({
      publishableKey,
      serviceUrl: 'https://ads.test',
      userRef: 'player-1',
      fetch: service.fetch,
    });
    instances.push(ads);
    return ads;
  };
  const ads = start();
  const { outcome, decisionId } = await ads.showRewarded('revive', { onClose: ads.destroy });
  expect(outcome).toBe('pending');
  const onReward = vi.fn();
  start().on('reward', onReward);
  await eventually(() => expect(onReward).toHaveBeenCalled());
  expect(onReward.mock.calls[0]?.[0]).toMatchObject({ decisionId });
});

it('returns an error for an invalid signal and does not block later ads', async () => {
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch: () => Promise.reject(new TypeError('offline')),
  });
  instances.push(ads);
  const signal = { aborted: false } as AbortSignal;
  const { reason } = await ads.showRewarded('revive', { signal });
  expect(reason).toBe('option_invalid');
  expect(ads.diagnostics().showing).toBeNull();
});
