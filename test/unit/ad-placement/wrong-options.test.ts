import { beforeEach, expect, test, vi } from 'vitest';
import { createAdPlacement, type AdPlacementOptions } from '../../../src/ad-placement/index.ts';
import { createFakeAds } from './fake-ads.ts';

// A game written in JavaScript may pass anything. It must run without ads then, not fail to start.

const placements = { next: 'level-end' };
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

const startBreak = (options: unknown): Promise<string> =>
  new Promise((resolve) =>
    createAdPlacement(createFakeAds([]), options as AdPlacementOptions).adBreak({
      type: 'next',
      adBreakDone: ({ breakStatus }) => resolve(breakStatus),
    }),
  );

test.each<[string, unknown]>([
  ['missing', undefined],
  ['null', null],
  ['a text', 'level-end'],
  ['without placements', {}],
  ['with placements that are null', { placements: null }],
  ['with placements that are a list', { placements: ['level-end'] }],
])('with options that are %s, an ad break is invalid', async (_what, options) => {
  expect(await startBreak(options)).toBe('invalid');
});

test.each([60, '60s', -5, 100_000, null, {}, [], Number.NaN, Symbol('hint'), Object.create(null)])(
  'with whatever frequency hint, an ad break shows its ad',
  async (frequencyHint) => {
    expect(await startBreak({ placements, frequencyHint })).toBe('viewed');
  },
);
