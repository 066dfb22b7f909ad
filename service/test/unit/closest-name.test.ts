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
