import { expect, test } from 'vitest';
import { findUnstorableText, maxNames, scanJson } from '../../src/http/request-bodies.ts';

test.each([
  [{ a: 'fine', b: ['😀'] }, undefined],
  [{ a: { 'b/c': ['x', 'y\0'] } }, '/a/b~1c/1'],
  [{ a: '\ud800' }, '/a'],
  [{ '\0': 1 }, '/\0'],
])('unstorable text in %j is detected', (value, expected) => {
  expect(findUnstorableText(value)).toBe(expected);
});

test.each([
  ['{"a":[1,{"b":"]}"}]}', 3, true],
  [String.raw`["\ud83d\ude00", "\\ud83d", "\u00e9", "\"[["]`, 1, true],
  [String.raw`["\ud83d"]`, 1, false],
  [String.raw`["\ude00\ud83d"]`, 1, false],
  [String.raw`["\ud83d\u0041"]`, 1, false],
  [String.raw`["\u0000"]`, 1, false],
  [String.raw`["\\u0000"]`, 1, true],
  ['['.repeat(64_000), 64_000, true],
  ['"', 0, true],
  [String.raw`"\u`, 0, true],
])('the text %j is measured before it is parsed', (text, depth, isStorable) => {
  expect(scanJson(Buffer.from(text))).toMatchObject({ depth, isStorable });
});

const object = (names: string[]): string => `{${names.map((name) => `"${name}":0`).join(',')}}`;
const many = (make: (index: number) => string): string[] =>
  Array.from({ length: maxNames + 1 }, (_, index) => make(index));
const binary = (index: number, zero: string, one: string): string =>
  [...index.toString(2).padStart(10, '0')].map((bit) => (bit === '1' ? one : zero)).join('');

test.each([
  ['different', many((index) => `m${index}`), true],
  ['the same', many(() => 'm'), false],
  ['few enough', many((index) => `m${index}`).slice(1), false],
  ['different in escapes', many((index) => binary(index, String.raw`\n`, String.raw`\"`)), true],
  [
    'different in code units',
    many((index) => String.raw`\u${index.toString(16).padStart(4, '0')}`),
    true,
  ],
  [
    'different in pairs',
    many((index) => String.raw`\u${(0xd800 + index).toString(16)}\udc00`),
    true,
  ],
])('names that are %s are counted before a text is parsed', (_kind, names, isRefused) => {
  const texts = [object(names), `[${names.map((name) => object([name])).join(' , ')}]`];
  for (const text of texts) expect(scanJson(Buffer.from(text)).names > maxNames).toBe(isRefused);
});

test('names are counted only until there are too many', () => {
  const names = Array.from({ length: 3 * maxNames }, (_, index) => `m${index}`);
  expect(scanJson(Buffer.from(object(names))).names).toBe(maxNames + 1);
});

test.each([
  ['[]', 1],
  ['{"a":1,"b":[2,3]}', 3],
  [String.raw`["a,b","\",",{}]`, 3],
])('the values of %s are counted before it is parsed', (text, values) => {
  expect(scanJson(Buffer.from(text)).values).toBe(values);
});
