import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DecisionRequest } from '../../../protocol/wire.ts';
import { type Ads, createAds, type ShowOptions } from '../../../src/index.ts';
import {
  createPublishableKey,
  picture,
  type StubService,
  createStubService,
} from '../../support/stub-service.ts';

let service: StubService;
let requests: DecisionRequest[];
let ads: Ads;

beforeEach(() => {
  service = createStubService();
  requests = [];
  service.respond = (request) => {
    requests.push(request);
    return picture(200);
  };
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userToken: async () => `token-${requests.length + 1}`,
    customData: 'every call',
    fetch: service.fetch,
  });
});
afterEach(() => ads.destroy());

it('does not show an ad that was preloaded with different options', async () => {
  await ads.preload('revive');
  const call: ShowOptions = { customData: 'level-7', segments: ['newcomer'] };
  expect((await ads.showRewarded('revive', call)).outcome).toBe('rewarded');
  expect(requests.map(({ custom_data, segments }) => [custom_data, segments])).toEqual([
    ['every call', undefined],
    ['level-7', ['newcomer']],
  ]);
});

it('shows an ad that was preloaded with the same options', async () => {
  await ads.preload('revive', { customData: 'level-7' });
  await ads.showRewarded('revive', { customData: 'level-7' });
  expect(requests).toHaveLength(1);
});

it('waits for a user token before each request', async () => {
  await ads.preload('revive');
  await ads.preload('lobby');
  expect(requests.map(({ user_token }) => user_token)).toEqual(['token-1', 'token-2']);
});

it.each<[object, string]>([
  [{ customData: 'x'.repeat(1_025) }, '`customData` must be a string of at most 1,024 characters'],
  [{ customData: 7 }, '`customData` must be'],
  [{ segments: 'newcomer' }, '`segments` must be at most 20 different strings'],
  [{ segments: [''] }, '`segments` must be'],
  [{ segments: ['a', 'a'] }, '`segments` must be'],
  [{ segments: Array.from({ length: 21 }, (_, index) => String(index)) }, '`segments` must be'],
  [{ muted: 'yes' }, '`muted` must be of type boolean; got "yes"'],
])('returns `option_invalid` for %j and sends no request', async (options, detail) => {
  for (const show of [ads.showRewarded, ads.showInterstitial]) {
    expect(await show('revive', options)).toEqual({
      outcome: 'error',
      reason: 'option_invalid',
      detail: expect.stringContaining(detail),
    });
  }
  expect(await ads.preload('revive', options)).toMatchObject({
    available: false,
    outcome: 'error',
    reason: 'option_invalid',
  });
  expect(requests).toEqual([]);
});
