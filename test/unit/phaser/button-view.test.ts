import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buttonStringsFor } from '../../../src/phaser/button-strings.ts';
import { english, labelOf, lookAgainMs, restingView } from '../../../src/phaser/button-view.ts';

const now = 1_000_000;
const until = (ms: number) => ({ available: false, retryAt: new Date(now + ms) });

describe('a button at rest', () => {
  it('is ready when there is an ad, and need not look again', () => {
    expect(restingView({ available: true }, now)).toEqual({ state: 'ready', secondsLeft: 0 });
    expect(lookAgainMs({ available: true }, now)).toBeUndefined();
  });

  it.each([
    [1, 1, 1],
    [999, 1, 999],
    [1000, 1, 1000],
    [1001, 2, 1],
    [65_400, 66, 400],
  ])('%d ms before the next ad says %d s, and looks again after %d ms', (ms, seconds, again) => {
    expect(restingView(until(ms), now)).toEqual({ state: 'cooldown', secondsLeft: seconds });
    expect(lookAgainMs(until(ms), now)).toBe(again);
  });

  it('asks again after half a minute when nobody said when, or the time is over', () => {
    for (const availability of [{ available: false }, until(0), until(-5000)]) {
      expect(restingView(availability, now).state).toBe('unavailable');
      expect(lookAgainMs(availability, now)).toBe(30_000);
    }
  });

  it('never asks again for a placement that does not exist', () => {
    const availability = { available: false, reason: 'invalid_placement' as const };
    expect(lookAgainMs(availability, now)).toBeUndefined();
  });

  it('writes minutes and seconds', () => {
    expect(labelOf({ state: 'cooldown', secondsLeft: 65 }, english)).toBe('Next ad in 1:05');
  });
});

describe('the texts of a button', () => {
  const folder = join(import.meta.dirname, '../../../src/creative/languages');
  const overlay = readdirSync(folder)
    .map((name) => name.replace('.json', ''))
    .filter((language) => language !== 'en');

  it.each(overlay)('are there in %s, as those of the overlay are', (language) => {
    const translated = buttonStringsFor(`${language}-XX`);
    expect(translated?.language).toBe(language);
    const texts = Object.entries(translated?.strings ?? {});
    expect(texts.map(([state]) => state)).toEqual(Object.keys(english));
    for (const [state, text] of texts)
      expect(text, state).toMatch(
        state === 'cooldown' ? /^[^{]+\{time\}[^{]*$|^\{time\}[^{]+$/ : /^[^{]+$/,
      );
  });

  it('are left in English for other languages, and found by the old codes of Hebrew and Indonesian', () => {
    expect(['en-GB', 'sv', 'eo'].map(buttonStringsFor)).toEqual([undefined, undefined, undefined]);
    expect(['iw', 'in-ID'].map((locale) => buttonStringsFor(locale)?.language)).toEqual([
      'he',
      'id',
    ]);
  });

  it('are drawn from right to left where they are written so', () => {
    expect(buttonStringsFor('ar')?.draw('إعلان')).toBe('\u2067إعلان\u2069');
    expect(buttonStringsFor('he')?.draw('פרסומת')).toBe('\u2067פרסומת\u2069');
    expect(buttonStringsFor('de')?.draw('Werbung')).toBe('Werbung');
  });
});
