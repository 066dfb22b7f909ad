import { expect, test } from 'vitest';
import { findUnstorableText } from '../../src/http/request-bodies.ts';

test.each([
  [{ a: 'fine', b: ['😀'] }, undefined],
  [{ a: { 'b/c': ['x', 'y\0'] } }, '/a/b~1c/1'],
  [{ a: '\ud800' }, '/a'],
  [{ '\0': 1 }, '/\0'],
])('unstorable text in %j is detected', (value, expected) => {
  expect(findUnstorableText(value)).toBe(expected);
});
