import { beforeEach, expect, test, vi } from 'vitest';
import type { BreakType, PlacementInfo } from '../../../src/ad-placement/ad-placement.ts';
import { fakeAds } from './fake-ads.ts';

// The functions keep one state for each page, hence a fresh module for each test.
async function load() {
  vi.resetModules();
  return import('../../../src/ad-placement/index.ts');
}

let log: string[];
let api: Awaited<ReturnType<typeof load>>;

beforeEach(async () => {
  log = [];
  api = await load();
});

const done = (type: BreakType) =>
  new Promise<PlacementInfo>((adBreakDone) => api.adBreak({ type, adBreakDone }));

test('Before the start a break is not ready.', async () => {
  expect(await done('next')).toMatchObject({ breakType: 'next', breakStatus: 'notReady' });
});

test('Configuration from before the start counts.', async () => {
  api.adConfig({ preloadAdBreaks: 'on' });
  api.startAdPlacement(fakeAds(log), { placements: { next: 'level-end' } });
  expect(log).toEqual(['preload level-end']);
});

test('After the start a break shows its ad.', async () => {
  api.startAdPlacement(fakeAds(log), { placements: { next: 'level-end' } });
  expect(await done('next')).toMatchObject({ breakStatus: 'viewed' });
});
