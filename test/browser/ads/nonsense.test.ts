import { afterEach, expect, it } from 'vitest';
import type { DecisionRequest } from '../../../protocol/wire.ts';
import { createAds, type Ads, type AdsOptions } from '../../../src/index.ts';
import { createPublishableKey, picture, createStubService } from '../../support/stub-service.ts';

// TypeScript would reject these calls, but a game in plain JavaScript can make them.

const instances: Ads[] = [];
afterEach(() => instances.splice(0).forEach((ads) => ads.destroy()));

function start(options: Partial<AdsOptions> = {}) {
  const service = createStubService();
  const requests: DecisionRequest[] = [];
  service.respond = (request) => {
    requests.push(request);
    return picture(200);
  };
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch: service.fetch,
    ...options,
  });
  instances.push(ads);
  return { ads, requests };
}

it.each([
  ['null', null, 'options must be an object.'],
  ['a string', 'x', 'options must be an object.'],
  ['a callback', () => undefined, 'options must be an object.'],
  ['a controller', { signal: new AbortController() }, '`signal` must be an AbortSignal.'],
])('the error names the problem if the options are %s', async (_, options, detail) => {
  const { ads } = start();
  const result = await ads.showRewarded('revive', options as never);
  expect(result).toEqual({ outcome: 'error', reason: 'option_invalid', detail });
  expect(await ads.preload('revive', options as never)).toMatchObject({
    available: false,
    outcome: 'error',
    reason: 'option_invalid',
  });
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
});

it('accepts `null` for every argument without throwing', async () => {
  const { ads } = start();
  const nothing = null as never;
  expect(ads.canShow(nothing)).toBe(true);
  expect(await ads.mountBanner('revive', nothing).result).toMatchObject({
    outcome: 'error',
    reason: 'option_invalid',
  });
  expect((await ads.rewardStatus(nothing)).state).toBe('none');
  expect((await ads.preload('revive', { signal: nothing })).available).toBe(true);
  expect(() => ads.setUser({ userRef: 'ann' }, nothing)).not.toThrow();
  expect(() => ads.off('change', nothing)).not.toThrow();
});

it.each([
  [undefined, 'got undefined'],
  [null, 'got undefined'],
  ['granted', 'got "granted"'],
  ['page', 'got "page"'],
  [{ status: 'yes' }, "{ status: 'granted' | 'denied' | 'unknown' }"],
])('rejects %j as consent and keeps the current consent', async (consent, expectedText) => {
  const { ads, requests } = start({ consent: { status: 'denied' } });
  const set = () => ads.setConsent(consent as never);
  expect(set).toThrow(
    expect.objectContaining({ name: 'OptionError', code: 'option_invalid' }) as Error,
  );
  expect(set).toThrow('`consent`');
  expect(set).toThrow(expectedText);
  await ads.preload('revive');
  expect(requests).toMatchObject([{ consent: { status: 'denied' } }]);
});

it.each(['nofill', null, 7])(
  'rejects %j as a simulation and keeps the current simulation',
  async (outcome) => {
    const { ads, requests } = start();
    ads.simulate('slow');
    const simulate = () => ads.simulate(outcome as never);
    expect(simulate).toThrow(
      expect.objectContaining({ name: 'OptionError', code: 'option_invalid' }) as Error,
    );
    expect(simulate).toThrow('`simulate` must be no_fill, blocked,');
    await ads.preload('revive');
    expect(requests).toMatchObject([{ simulate: 'slow' }]);
  },
);

it.each([null, 'x', {}])('rejects %j as a handler', (handler) => {
  const { ads } = start();
  for (const method of ['on', 'once'] as const)
    expect(() => ads[method]('change', handler as never)).toThrow('listener must be a function');
});
