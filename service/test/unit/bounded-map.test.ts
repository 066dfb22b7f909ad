import { expect, test } from 'vitest';
import { BoundedMap } from '../../src/platform/bounded-map.ts';

test.each<[string, number, string, string]>([
  ['as many as fit are kept', 3, 'abc', 'abc'],
  ['the one set the longest ago is dropped', 3, 'abcd', 'bcd'],
  ['one that is set again is the newest', 3, 'abcad', 'cad'],
  ['setting one again drops none', 3, 'abcc', 'abc'],
  ['one at most', 1, 'aab', 'b'],
])('of a bounded map’s entries, %s', (_, max, keys, expected) => {
  const map = new BoundedMap<string, number>(max);
  for (const [index, key] of [...keys].entries()) map.set(key, index);
  expect([...map.keys()].join('')).toBe(expected);
  for (const [key, index] of map) expect(keys.lastIndexOf(key)).toBe(index);
});
