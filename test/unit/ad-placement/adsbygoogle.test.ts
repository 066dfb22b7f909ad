import { beforeEach, expect, test, vi } from 'vitest';
import type { AdPlacement } from '../../../src/ad-placement/ad-placement.ts';
import { installAdsbygoogle } from '../../../src/ad-placement/adsbygoogle.ts';

interface GooglePage extends Partial<AdPlacement> {
  adsbygoogle?: { push(...entries: unknown[]): void };
}

let page: GooglePage;
let log: unknown[];
let placement: AdPlacement;

beforeEach(() => {
  page = {};
  log = [];
  placement = {
    adBreak: ({ type }) => log.push(`break ${type}`),
    adConfig: (options) => log.push(options),
  };
  vi.stubGlobal('window', page);
});

test('runs queued pushes in order, and later pushes immediately', () => {
  page.adsbygoogle = [{ preloadAdBreaks: 'on' }, { type: 'preroll' }, { sound: 'off' }];
  installAdsbygoogle(placement);
  page.adsbygoogle.push({ type: 'next' }, { sound: 'on' });
  expect(log).toEqual([
    { preloadAdBreaks: 'on' },
    'break preroll',
    { sound: 'off' },
    'break next',
    { sound: 'on' },
  ]);
});

test('ignores pushes for display ads', () => {
  installAdsbygoogle(placement);
  const displayAdPushes = [
    {},
    { google_ad_client: 'ca-pub-1' },
    { params: {} },
    null,
    undefined,
    'text',
    () => {},
  ];
  page.adsbygoogle?.push(...displayAdPushes);
  expect(log).toEqual([]);
});

test('defines adBreak and adConfig unless the page already has them', () => {
  const pageAdBreak = vi.fn<AdPlacement['adBreak']>();
  page.adBreak = pageAdBreak;
  installAdsbygoogle(placement);
  expect(page.adBreak).toBe(pageAdBreak);
  expect(page.adConfig).toBe(placement.adConfig);
});

test.each(['adBreakDone', 'beforeAd', 'afterBreak'])(
  'a push with only %s is an ad break, so that it ends',
  (name) => {
    installAdsbygoogle(placement);
    page.adsbygoogle?.push({ [name]: () => {} });
    expect(log).toEqual(['break undefined']);
  },
);

test.each<[string, { push(...entries: unknown[]): void }]>([
  ['the array', []],
  ['Google’s object', { push: () => log.push('Google') }],
])('handles the pushes of code that has kept %s', (_, kept) => {
  page.adsbygoogle = kept;
  installAdsbygoogle(placement);
  kept.push({ type: 'next' });
  expect(log).toEqual(['break next']);
});

test('an element with a global’s name is not taken for it', () => {
  Object.assign(page, { adBreak: { tagName: 'DIV' }, adsbygoogle: { tagName: 'DIV' } });
  installAdsbygoogle(placement);
  expect(page.adBreak).toBe(placement.adBreak);
});

test('a second call has no effect, even from another copy of the module', async () => {
  installAdsbygoogle(placement);
  vi.resetModules();
  const copy = await import('../../../src/ad-placement/adsbygoogle.ts');
  expect(copy.installAdsbygoogle).not.toBe(installAdsbygoogle);
  copy.installAdsbygoogle({ adBreak: () => log.push('another'), adConfig() {} });
  page.adsbygoogle?.push({ type: 'next' });
  expect(log).toEqual(['break next']);
});

test('ignores a later assignment to window.adsbygoogle', () => {
  installAdsbygoogle(placement);
  const installedQueue = page.adsbygoogle;
  page.adsbygoogle = { push() {} };
  expect(page.adsbygoogle).toBe(installedQueue);
});

test('replaces a window.adsbygoogle that the page declared with `var`', () => {
  const pageQueue: unknown[] = [{ type: 'next' }];
  Object.defineProperty(page, 'adsbygoogle', { value: pageQueue, writable: true });
  installAdsbygoogle(placement);
  page.adsbygoogle?.push({ type: 'pause' });
  expect(log).toEqual(['break next', 'break pause']);
});
