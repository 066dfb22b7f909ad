import { beforeEach, expect, test, vi } from 'vitest';
import { createAdPlacement } from '../../../src/ad-placement/ad-placement.ts';
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
  expect(log).toEqual(['preload level-end', 'preload revive']);
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
  expect(log).toEqual([]);
});

test('only the first value of preloadAdBreaks takes effect', async () => {
  const { adConfig } = createAdPlacement(ads, { placements });
  adConfig({ preloadAdBreaks: 'auto' });
  await untilReady((onReady) => adConfig({ preloadAdBreaks: 'on', onReady }));
  expect(log).toEqual([]);
});

test('preloadAdBreaks has no effect after the first break', async () => {
  const { adBreak, adConfig } = createAdPlacement(ads, { placements });
  await new Promise((resolve) => adBreak({ type: 'browse', adBreakDone: resolve }));
  await untilReady((onReady) => adConfig({ preloadAdBreaks: 'on', onReady }));
  expect(log).toEqual([]);
});

test('ads start muted while the game’s sound is off', async () => {
  const { adBreak, adConfig } = createAdPlacement(ads, { placements });
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
