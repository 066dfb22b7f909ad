import { afterEach, expect, it } from 'vitest';
import { type Ads, type AdsOptions, createAds } from '../../../src/index.ts';
import { deferred } from '../../support/deferred.ts';
import { freshKey, stubService, type StubService } from '../../support/stub-service.ts';

const open: Ads[] = [];
afterEach(() => open.splice(0).forEach((ads) => ads.destroy()));

const start = (service: StubService, more: Partial<AdsOptions> = {}): Ads => {
  const ads = createAds({
    publishableKey: freshKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    ...more,
  });
  open.push(ads);
  return ads;
};

/** A service that keeps every batch of events waiting until `answer` resolves. */
const slowToConfirm = (): { service: StubService; answer: () => void } => {
  const service = stubService();
  const { fetch } = service;
  const answered = deferred<void>();
  service.fetch = async (input, init) => {
    const answer = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/v1/events') await answered.promise;
    return answer;
  };
  return { service, answer: () => answered.resolve() };
};

it('says that the ad has closed when the game is back, and the result when the call has ended', async () => {
  const { service, answer } = slowToConfirm();
  const ads = start(service);
  const heard: string[] = [];
  const closed = deferred<void>();
  ads.on('open', (placement) => heard.push(`open ${placement}`));
  ads.on('close', (placement) => {
    heard.push(`close ${placement}`);
    closed.resolve();
  });
  ads.on('result', (placement, { outcome }) => heard.push(`${placement}: ${outcome}`));
  const shown = ads.showRewarded('revive', { onClose: () => heard.push('onClose') });
  await closed.promise;
  await Promise.resolve();
  expect(heard).toEqual(['open revive', 'close revive', 'onClose']);
  answer();
  await shown;
  expect(heard.slice(3)).toEqual(['revive: rewarded']);
});

it('gives a result and no close where there was no ad', async () => {
  const service = stubService();
  service.answer = () => ({ status: 'no_fill', reason: 'no_candidates' });
  const ads = start(service);
  const heard: string[] = [];
  ads.on('close', () => heard.push('close'));
  ads.on('result', (placement, { outcome }) => heard.push(`${placement}: ${outcome}`));
  await ads.showRewarded('revive');
  expect(heard).toEqual(['revive: no_fill']);
});

it('answers whether an ad can be shown as a boolean, and the details apart', async () => {
  const service = stubService();
  const now = Date.now();
  service.answer = () => ({
    status: 'no_fill',
    reason: 'cooldown',
    issued_at: new Date(now).toISOString(),
    retry_at: new Date(now + 60_000).toISOString(),
  });
  const ads = start(service);
  expect([ads.canShow('revive'), ads.availability('revive')]).toEqual([true, { available: true }]);
  await ads.preload('revive');
  expect(ads.canShow('revive')).toBe(false);
  const { retryAt, ...rest } = ads.availability('revive');
  expect(rest).toEqual({ available: false, reason: 'cooldown' });
  expect(retryAt).toBeInstanceOf(Date);
});
