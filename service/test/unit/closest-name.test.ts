import { expect, test } from 'vitest';
import { findClosestName } from '../../src/platform/closest-name.ts';

test.each([
  ['revve', 'revive'],
  ['Revive', 'revive'],
  ['double_coins', 'double-coins'],
  ['levelend', 'level-end'],
  ['shop', undefined],
  ['', undefined],
])('%j was probably meant to be %j', (name, expected) => {
  expect(findClosestName(name, ['revive', 'double-coins', 'level-end'])).toBe(expected);
});

test('a name is compared with a hundred others of about its length, and not with a thousand', () => {
  const others = (count: number) => Array.from({ length: count }, (_, index) => `other-${index}`);
  const long = Array.from({ length: 900 }, (_, index) => `a-name-that-is-much-longer-${index}`);
  expect(findClosestName('revvive', [...long, ...others(99), 'revive'])).toBe('revive');
  expect(findClosestName('revvive', [...others(100), 'revive'])).toBeUndefined();
});
