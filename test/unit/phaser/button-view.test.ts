import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getButtonStrings } from '../../../src/phaser/button-languages.ts';
import { english, formatLabel, nextUpdateMs, idleView } from '../../../src/phaser/button-view.ts';

const now = 1_000_000;
const unavailableFor = (ms: number) => ({ available: false, retryAt: new Date(now + ms) });

describe('an idle button', () => {
  it('is ready when an ad is available', () => {
    expect(idleView({ available: true }, now)).toEqual({ state: 'ready', secondsLeft: 0 });
    expect(nextUpdateMs({ available: true }, now)).toBeUndefined();
  });

  it.each([
    [1, 1, 1],
    [999, 1, 999],
    [1000, 1, 1000],
    [1001, 2, 1],
    [65_400, 66, 400],
  ])('%d ms before the next ad, shows %d s and checks again after %d ms', (ms, seconds, nextMs) => {
    expect(idleView(unavailableFor(ms), now)).toEqual({
      state: 'cooldown',
      secondsLeft: seconds,
    });
    expect(nextUpdateMs(unavailableFor(ms), now)).toBe(nextMs);
  });

  it('checks again after 30 s when the retry time is missing or has passed', () => {
    for (const availability of [{ available: false }, unavailableFor(0), unavailableFor(-5000)]) {
      expect(idleView(availability, now).state).toBe('unavailable');
      expect(nextUpdateMs(availability, now)).toBe(30_000);
    }
  });

  it('never checks again for a placement that does not exist', () => {
    const availability = { available: false, outcome: 'invalid_placement' as const };
    expect(nextUpdateMs(availability, now)).toBeUndefined();
  });

  it('shows minutes and seconds', () => {
    expect(formatLabel({ state: 'cooldown', secondsLeft: 65 }, english)).toBe('Next ad in 1:05');
  });

  it('says what the ad earns', () => {
    const reward = { type: 'extra_lives', amount: 2 };
    const view = idleView({ available: true, reward }, now);
    expect(view).toEqual({ state: 'ready', secondsLeft: 0, reward });
    expect(formatLabel(view, english)).toBe('Watch an ad (\u2068+2 extra lives\u2069)');
  });
});

describe('the button strings', () => {
  const folder = join(import.meta.dirname, '../../../src/creative/languages');
  const overlayLanguages = readdirSync(folder)
    .map((name) => name.replace('.json', ''))
    .filter((language) => language !== 'en');

  it.each(overlayLanguages)('exist in %s, a language that the overlay supports', (language) => {
    const translated = getButtonStrings(`${language}-XX`);
    expect(translated?.language).toBe(language);
    const labels = Object.entries(translated?.strings ?? {});
    expect(labels.map(([state]) => state)).toEqual(Object.keys(english));
    for (const [state, text] of labels)
      expect(text, state).toMatch(
        state === 'cooldown' ? /^[^{]+\{time\}[^{]*$|^\{time\}[^{]+$/ : /^[^{]+$/,
      );
  });

  it('are English for languages without a translation', () => {
    expect(['en-GB', 'sv', 'eo'].map(getButtonStrings)).toEqual([undefined, undefined, undefined]);
    expect(['iw', 'in-ID'].map((locale) => getButtonStrings(locale)?.language)).toEqual([
      'he',
      'id',
    ]);
  });

  it('are drawn right to left in right-to-left languages', () => {
    expect(getButtonStrings('ar')?.prepareText('إعلان')).toBe('\u2067إعلان\u2069');
    expect(getButtonStrings('he')?.prepareText('פרסומת')).toBe('\u2067פרסומת\u2069');
    expect(getButtonStrings('de')?.prepareText('Werbung')).toBe('Werbung');
  });
});
