import { expect, test, vi } from 'vitest';
import { keyChecksum } from '../../../src/platform/key-format.ts';
import { createFakeAds } from '../ad-placement/fake-ads.ts';

// What a tag's attributes may contain, by a developer's mistake or from a content management system: nothing throws, what
// can't be used has the documented default, and one warning says so.

const keyBody = `pk_sandbox_${'a'.repeat(10)}_${'b'.repeat(20)}`;
const required = {
  key: keyBody + keyChecksum(keyBody),
  serviceUrl: 'https://play.example',
};
const foreign = [
  '',
  ' ',
  '-1',
  'NaN',
  '1e999',
  'null',
  'undefined',
  'maybe',
  '[]',
  '{}',
  'Zoë 💎',
  '\u202e\ud800',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'constructor',
  'x'.repeat(5_000),
];
/** Values that can be used, in addition to the foreign ones. */
const usable: Record<string, string[]> = {
  consent: ['granted', ' Granted ', 'page'],
  portalRewards: ['{}', '{"revive":{"type":"coins","amount":5}}'],
  pageAds: ['google_h5', ' google_h5 , google_h5\n'],
  childDirected: ['false', ' OFF '],
  frequencyHint: ['60s', ' 7 ', '0s', '86400s', '86401s', '1.5s', `${'9'.repeat(400)}s`],
};

/** Returns the options that the attributes lead to, and the warnings. */
async function read(attributes: Record<string, string>) {
  // A warning is written once per page.
  vi.resetModules();
  const warn = vi.spyOn(console, 'warn').mockReset().mockReturnValue();
  const { readAttributes } = await import('../../../src/script-tag/read-attributes.ts');
  const { checkOptions } = await import('../../../src/options.ts');
  const options = checkOptions(readAttributes({ ...required, ...attributes }));
  // Each instance of a page reads them again.
  checkOptions(readAttributes({ ...required, ...attributes }));
  return { options, warnings: warn.mock.calls.length, texts: warn.mock.calls.map(String) };
}

/** What an attribute's value means, by attribute. A warning is expected where it means nothing. */
const meanings: Record<string, (value: string) => { option: unknown; isUsable: boolean }> = {
  consent: (value) => {
    const status = value.trim().toLowerCase();
    if (status === 'page') return { option: 'page', isUsable: true };
    const isUsable = status === 'granted';
    return { option: isUsable ? { status } : undefined, isUsable };
  },
  portalRewards: (value) => {
    const isUsable = value.startsWith('{');
    return { option: isUsable ? (JSON.parse(value) as unknown) : undefined, isUsable };
  },
  childDirected: (value) => ({ option: !/false|off/i.test(value), isUsable: true }),
  pageAds: (value) => {
    const isUsable = value.includes('google_h5');
    return { option: isUsable ? ['google_h5'] : undefined, isUsable };
  },
  locale: () => ({ option: expect.stringMatching(/^[a-z]{2,8}/i) as unknown, isUsable: true }),
  customData: (value) => {
    const isUsable = value.length <= 1_024 && value !== '\u202e\ud800';
    return { option: isUsable ? value : undefined, isUsable };
  },
  userRef: (value) => {
    const isPrintable = /^[\x20-\x7e]{1,128}$/.test(value);
    if (value === '' || isPrintable) return { option: value || undefined, isUsable: true };
    return {
      option:
        value.length < 128 && !value.includes('\ud800')
          ? encodeURIComponent(value).replaceAll('%20', ' ')
          : undefined,
      isUsable: false,
    };
  },
};
for (const name of ['portalPlacements']) meanings[name] = meanings['portalRewards'] as never;
for (const name of ['muted', 'debug', 'keepRunning', 'tagForUnderAgeOfConsent'])
  meanings[name] = meanings['childDirected'] as never;

test.each(Object.entries(meanings))('data-%s', async (name, explain) => {
  const option = name === 'tagForUnderAgeOfConsent' ? 'childDirected' : name;
  for (const value of foreign.concat(usable[name] ?? [])) {
    const { option: expected, isUsable } = explain(value);
    const { options, warnings } = await read({ [name]: value });
    const about = `${name}: ${value.slice(0, 30)}`;
    const given = (options as unknown as Record<string, unknown>)[option];
    // An attribute of Google's sets the option; its absence leaves the default.
    expect.soft(given ?? (name === option ? undefined : false), about).toEqual(expected);
    expect.soft(warnings, about).toBe(isUsable ? 0 : 1);
  }
});

test.each(['key', 'serviceUrl'])('without a valid data-%s there are no ads', async (name) => {
  for (const value of foreign.filter((text) => text.length < 100))
    await expect
      .soft(read({ [name]: value }), value)
      .rejects.toMatchObject({ name: 'OptionError' });
});

test('data-page-ads names ad SDKs, and leaves out the others with a warning', async () => {
  const { options, warnings } = await read({ pageAds: 'poki, google_h5 constructor' });
  expect([options.pageAds, warnings]).toEqual([['google_h5'], 1]);
});

test('data-ad-frequency-hint', async () => {
  for (const hint of foreign.concat(usable['frequencyHint'] ?? [])) {
    vi.resetModules();
    const warn = vi.spyOn(console, 'warn').mockReset().mockReturnValue();
    const { createAdPlacement } = await import('../../../src/ad-placement/ad-placement.ts');
    const { createManualClock } = await import('../../support/manual-clock.ts');
    const clock = createManualClock();
    const placements = { next: 'level-end' };
    const { adBreak } = createAdPlacement(
      createFakeAds([]),
      { placements, frequencyHint: hint },
      clock,
    );
    const run = () =>
      new Promise<string>((resolve) => {
        adBreak({ type: 'next', adBreakDone: (info) => resolve(info.breakStatus) });
      });
    const isUsable = /^\s*\d{1,5}s?\s*$/.test(hint) && Number.parseInt(hint, 10) <= 86_400;
    const gapS = isUsable ? Number.parseInt(hint, 10) : 120;
    expect.soft(await run(), hint.slice(0, 30)).toBe('viewed');
    clock.freeze(gapS * 1_000 - 1);
    if (gapS > 0) expect.soft(await run(), hint.slice(0, 30)).toBe('frequencyCapped');
    clock.freeze(1);
    expect.soft(await run(), hint.slice(0, 30)).toBe('viewed');
    expect.soft(warn.mock.calls.length, hint.slice(0, 30)).toBe(isUsable ? 0 : 1);
  }
});

test('a warning quotes at most 40 characters of a value, as JSON', async () => {
  const { texts } = await read({ portalRewards: `"${'x'.repeat(38)}yz` });
  expect(texts).toEqual([expect.stringMatching(/got "\\"x{38}y"\.$/)]);
});
