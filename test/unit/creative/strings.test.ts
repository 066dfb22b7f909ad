import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fill, type OverlayStrings, stringsFor } from '../../../src/creative/strings.ts';

const folder = join(import.meta.dirname, '../../../src/creative/languages');
const languages = readdirSync(folder).map((name) => name.replace('.json', ''));
const holes = (text: string) => text.match(/\{\w+\}/g) ?? [];

describe('the strings', () => {
  it('come in English where there is no translation', async () => {
    for (const locale of ['xx-YY', '', 'EN-gb', 'constructor'])
      expect((await stringsFor(locale)).language).toBe('en');
  });

  it('know the old codes of Hebrew and Indonesian', async () => {
    expect((await stringsFor('iw-IL')).language).toBe('he');
    expect((await stringsFor('in')).language).toBe('id');
  });

  it('know how operating systems write a locale', async () => {
    expect((await stringsFor('de_AT')).language).toBe('de');
    expect((await stringsFor('fr@euro')).language).toBe('fr');
  });

  it('are there in many languages, two of them written from right to left', async () => {
    expect(languages.length).toBeGreaterThanOrEqual(10);
    const all = await Promise.all(languages.map(stringsFor));
    expect(all.filter(({ direction }) => direction === 'rtl')).toHaveLength(2);
  });

  it.each(languages)(
    'say everything in %s, with the same holes as in English',
    async (language) => {
      const english = await stringsFor('en');
      const texts = await stringsFor(`${language}-XX`);
      expect(texts.language).toBe(language);
      for (const name of Object.keys(english) as (keyof OverlayStrings)[]) {
        expect(texts[name], name).not.toBe('');
        expect(holes(texts[name]), name).toEqual(holes(english[name]));
      }
    },
  );

  it('have every hole filled, and keep one that nobody fills', () => {
    expect(fill('{seconds} s of {reward}', { seconds: 0, reward: '5 coins' })).toBe(
      '0 s of 5 coins',
    );
    expect(fill('{other}', {})).toBe('{other}');
  });
});
