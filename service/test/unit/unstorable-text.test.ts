import { expect, test } from 'vitest';
import { findUnstorableText, scanJson } from '../../src/http/request-bodies.ts';

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
  expect(scanJson(Buffer.from(text))).toEqual({ depth, isStorable });
});
