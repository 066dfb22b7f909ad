import { beforeEach, expect, test, vi } from 'vitest';
import { createAdPlacement } from '../../../src/ad-placement/ad-placement.ts';
import { native } from '../../../src/platform/native.ts';
import { type FakeAds, createFakeAds } from './fake-ads.ts';

const placements = { next: 'level-end', reward: 'revive', start: 'level-end' };
let log: string[];
let ads: FakeAds;

beforeEach(() => {
  log = [];
  ads = createFakeAds(log);
});

const untilReady = (config: (onReady: () => void) => void) => new Promise<void>(config);

test('with preloadAdBreaks on, preloads every placement once and then calls onReady', async () => {
  const { adConfig } = createAdPlacement(ads, { placements });
  await untilReady((onReady) => adConfig({ preloadAdBreaks: 'on', onReady }));
  expect(ads.preloads).toEqual(['level-end as interstitial', 'revive as rewarded']);
});

test('onReady is called, and ads are preloaded, when the consent is known', async () => {
  const onReady = vi.fn();
  ads.currentAvailability = { available: false, outcome: 'not_ready' };
  createAdPlacement(ads, { placements }).adConfig({ preloadAdBreaks: 'on', onReady });
  ads.emitChange();
  await vi.waitFor(() => expect(onReady).not.toHaveBeenCalled());
  expect(ads.preloads).toEqual([]);
  ads.currentAvailability = { available: true };
  ads.emitChange();
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce());
  expect(ads.preloads).toHaveLength(2);
});

test('after each break, the next ad is loaded and kept fresh, but not for ever or in the background', async () => {
  const isHidden = vi.spyOn(native, 'isHidden').mockReturnValue(false);
  const { adBreak } = createAdPlacement(ads, { placements });
  await new Promise((resolve) => adBreak({ type: 'next', adBreakDone: resolve }));
  await vi.waitFor(() => expect(ads.isLoaded('level-end')).toBe(true));
  const becomeStale = async () => {
    ads.loaded.clear();
    ads.emitChange();
    await Promise.resolve();
  };
  isHidden.mockReturnValue(true);
  await becomeStale();
  expect(ads.isLoaded('level-end')).toBe(false);
  isHidden.mockReturnValue(false);
  ads.emitChange();
  await vi.waitFor(() => expect(ads.isLoaded('level-end')).toBe(true));
  const before = ads.preloads.length;
  for (let count = 0; count < 20; count += 1) {
    await becomeStale();
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  expect(ads.preloads.length - before).toBe(9);
});

test('an ad that a rule holds back is loaded when its time has come', async () => {
  vi.spyOn(native, 'isHidden').mockReturnValue(false);
  const { adBreak } = createAdPlacement(ads, { placements });
  const run = () => new Promise((resolve) => adBreak({ type: 'next', adBreakDone: resolve }));
  ads.currentAvailability = {
    available: false,
    outcome: 'frequency_capped',
    retryAt: new Date(Date.now() + 60_000),
  };
  expect(await run()).toMatchObject({ breakStatus: 'frequencyCapped' });
  ads.emitChange();
  expect(ads.preloads).toEqual(['level-end as interstitial']);
  ads.currentAvailability = { available: true };
  ads.emitChange();
  await vi.waitFor(() => expect(ads.isLoaded('level-end')).toBe(true));
});

test('onReady is called only after the ads have loaded', async () => {
  let finishLoading!: () => void;
  const onReady = vi.fn();
  ads.preload = () =>
    new Promise((resolve) => (finishLoading = () => resolve({ available: true })));
  createAdPlacement(ads, { placements: { next: 'level-end' } }).adConfig({
    preloadAdBreaks: 'on',
    onReady,
  });
  await Promise.resolve();
  await Promise.resolve();
  expect(onReady).not.toHaveBeenCalled();
  finishLoading();
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce());
});

test('onReady is called immediately if preloading is off', async () => {
  const { adConfig } = createAdPlacement(ads, { placements });
  await untilReady((onReady) => adConfig({ sound: 'off', onReady }));
  expect(ads.preloads).toEqual([]);
});

test('only the first value of preloadAdBreaks takes effect', async () => {
  const { adConfig } = createAdPlacement(ads, { placements });
  adConfig({ preloadAdBreaks: 'auto' });
  await untilReady((onReady) => adConfig({ preloadAdBreaks: 'on', onReady }));
  expect(ads.preloads).toEqual([]);
});

test('preloadAdBreaks has no effect after the first break', async () => {
  const { adBreak, adConfig } = createAdPlacement(ads, { placements });
  await new Promise((resolve) => adBreak({ type: 'browse', adBreakDone: resolve }));
  await untilReady((onReady) => adConfig({ preloadAdBreaks: 'on', onReady }));
  expect(ads.preloads).toEqual([]);
});

test('ads start muted while the game’s sound is off', async () => {
  const { adBreak, adConfig } = createAdPlacement(ads, { placements, frequencyHint: '0s' });
  const runBreak = () => new Promise((resolve) => adBreak({ type: 'next', adBreakDone: resolve }));
  await runBreak();
  adConfig({ sound: 'off' });
  await runBreak();
  adConfig({ sound: 'on' });
  await runBreak();
  expect(log.filter((line) => line.startsWith('show'))).toEqual([
    'show level-end',
    'show level-end muted: true',
    'show level-end muted: false',
  ]);
});

test('the interstitial placement is the default for every type except reward', async () => {
  const { adBreak } = createAdPlacement(ads, {
    frequencyHint: '0s',
    placements: { interstitial: 'anywhere', next: 'level-end' },
  });
  for (const type of ['next', 'pause', 'reward'] as const)
    await new Promise((resolve) => {
      adBreak({
        type,
        adBreakDone: resolve,
        ...(type === 'reward' && { beforeReward() {}, adDismissed() {}, adViewed() {} }),
      });
    });
  expect(log.filter((line) => line.startsWith('show'))).toEqual([
    'show level-end',
    'show anywhere',
  ]);
});
