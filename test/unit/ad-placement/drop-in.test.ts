import { beforeEach, expect, test, vi } from 'vitest';
import type { BreakType, PlacementInfo } from '../../../src/ad-placement/run-break.ts';
import { createFakeAds } from './fake-ads.ts';

// The module keeps state per page, so each test imports a fresh copy.
async function loadModule() {
  vi.resetModules();
  return import('../../../src/ad-placement/index.ts');
}

let log: string[];
let api: Awaited<ReturnType<typeof loadModule>>;

beforeEach(async () => {
  log = [];
  api = await loadModule();
});

const runBreak = (type: BreakType) =>
  new Promise<PlacementInfo>((adBreakDone) => api.adBreak({ type, adBreakDone }));

test('a break before startAdPlacement ends with notReady', async () => {
  expect(await runBreak('next')).toMatchObject({ breakType: 'next', breakStatus: 'notReady' });
});

test('configuration set before startAdPlacement takes effect', async () => {
  api.adConfig({ preloadAdBreaks: 'on' });
  const ads = createFakeAds(log);
  api.startAdPlacement(ads, { placements: { next: 'level-end' } });
  await vi.waitFor(() => expect(ads.preloads).toEqual(['level-end as interstitial']));
});

test('a break after startAdPlacement shows its ad', async () => {
  api.startAdPlacement(createFakeAds(log), { placements: { next: 'level-end' } });
  expect(await runBreak('next')).toMatchObject({ breakStatus: 'viewed' });
});
