import { expect, test } from 'vitest';
import { toOneLine } from '../../src/platform/one-line.ts';

test.each([
  ['a line', 'Ada’s shop', 'Ada’s shop'],
  ['several lines', ' a\r\nb\u2028c\u0085d\t', 'a b c d'],
  ['escape sequences', '\u001b]0;title\u0007ad', ']0;title ad'],
  ['text that is turned around', 'ad\u202egnp.exe', 'ad gnp.exe'],
  ['half a character', 'a\ud83d', 'a'],
  ['an accent of its own', 'Zoe\u0308', 'Zo\u00eb'],
  ['joined characters', '👨‍👩‍👧 می‌خواهم', '👨‍👩‍👧 می‌خواهم'],
  ['a long text', 'a'.repeat(300), 'a'.repeat(20)],
  ['a text that gets longer', '\ufb1d'.repeat(20), '\u05d9\u05b4'.repeat(10)],
  ['a long text with a character on the border', `${'a'.repeat(19)}👨`, 'a'.repeat(19)],
  ['nothing visible', ' \u202e\u0000\n', undefined],
  ['an invisible character', '\u200b', undefined],
  ['a filler', '\u3164', undefined],
])('%s becomes one line that can be shown', (_, text, expected) => {
  expect(toOneLine(text, 20)).toBe(expected);
});
