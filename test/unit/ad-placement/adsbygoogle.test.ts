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

test('What was pushed before is run in its order, and what is pushed afterwards at once.', () => {
  page.adsbygoogle = [{ preloadAdBreaks: 'on' }, { type: 'preroll' }, { sound: 'off' }];
  installAdsbygoogle(placement);
  page.adsbygoogle.push({ type: 'next' }, { onReady: undefined });
  expect(log).toEqual([
    { preloadAdBreaks: 'on' },
    'break preroll',
    { sound: 'off' },
    'break next',
    { onReady: undefined },
  ]);
});

test('What is meant for display ads is ignored.', () => {
  installAdsbygoogle(placement);
  const display = [
    {},
    { google_ad_client: 'ca-pub-1' },
    { params: {} },
    null,
    undefined,
    'text',
    () => {},
  ];
  page.adsbygoogle?.push(...display);
  expect(log).toEqual([]);
});

test('A page without the functions gets them, and one that has them keeps its own.', () => {
  const own = vi.fn<AdPlacement['adBreak']>();
  page.adBreak = own;
  installAdsbygoogle(placement);
  expect(page.adBreak).toBe(own);
  expect(page.adConfig).toBe(placement.adConfig);
});

test('A second call has no effect, from another copy of the module either.', async () => {
  installAdsbygoogle(placement);
  vi.resetModules();
  const copy = await import('../../../src/ad-placement/adsbygoogle.ts');
  expect(copy.installAdsbygoogle).not.toBe(installAdsbygoogle);
  copy.installAdsbygoogle({ adBreak: () => log.push('another'), adConfig() {} });
  page.adsbygoogle?.push({ type: 'next' });
  expect(log).toEqual(['break next']);
});

test('A script that takes the name over later has no effect, and is not stopped by an error.', () => {
  installAdsbygoogle(placement);
  const installed = page.adsbygoogle;
  page.adsbygoogle = { push() {} };
  expect(page.adsbygoogle).toBe(installed);
});

test('A name that the page declared, which can only be assigned to, is taken all the same.', () => {
  const declared: unknown[] = [{ type: 'next' }];
  Object.defineProperty(page, 'adsbygoogle', { value: declared, writable: true });
  installAdsbygoogle(placement);
  page.adsbygoogle?.push({ type: 'pause' });
  expect(log).toEqual(['break next', 'break pause']);
});
