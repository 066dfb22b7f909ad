import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  english,
  fillTemplate,
  findTranslation,
  type OverlayStrings,
} from '../../../src/creative/strings.ts';

const folder = join(import.meta.dirname, '../../../src/creative/languages');
const languages = readdirSync(folder).map((name) => name.replace('.json', ''));
const loadStrings = async (locale: string) =>
  (await findTranslation(locale)?.())?.default ?? english;
const placeholdersIn = (text: string) => text.match(/\{\w+\}/g) ?? [];

describe('the overlay strings', () => {
  it('fall back to English when there is no translation', async () => {
    for (const locale of ['xx-YY', '', 'EN-gb', 'constructor'])
      expect((await loadStrings(locale)).language).toBe('en');
  });

  it('accept the legacy language codes for Hebrew and Indonesian', async () => {
    expect((await loadStrings('iw-IL')).language).toBe('he');
    expect((await loadStrings('in')).language).toBe('id');
  });

  it('accept POSIX locale names', async () => {
    expect((await loadStrings('de_AT')).language).toBe('de');
    expect((await loadStrings('fr@euro')).language).toBe('fr');
  });

  it('exist in at least ten languages, two of them written right to left', async () => {
    expect(languages.length).toBeGreaterThanOrEqual(10);
    const translations = await Promise.all(languages.map(loadStrings));
    expect(translations.filter(({ direction }) => direction === 'rtl')).toHaveLength(2);
  });

  it.each(languages)(
    'have the same keys and placeholders in %s as in English',
    async (language) => {
      const strings = await loadStrings(`${language}-XX`);
      expect(strings.language).toBe(language);
      for (const name of Object.keys(english) as (keyof OverlayStrings)[]) {
        expect(strings[name], name).not.toBe('');
        expect(placeholdersIn(strings[name]), name).toEqual(placeholdersIn(english[name]));
      }
    },
  );

  it('keep placeholders that have no value', () => {
    expect(fillTemplate('{seconds} s of {reward}', { seconds: 0, reward: '5 coins' })).toBe(
      '0 s of 5 coins',
    );
    expect(fillTemplate('{other}', {})).toBe('{other}');
  });
});
