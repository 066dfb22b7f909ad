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

test('a name is compared with a thousand long ones at little cost, and the most similar one is still found', () => {
  const letters = Array.from({ length: 64 }, (_, index) => 'abcdefghijklmnop'[index % 16]);
  const rotate = (by: number): string =>
    [...letters.slice(by % 64), ...letters.slice(0, by % 64)].join('');
  const names = Array.from(
    { length: 999 },
    (_, index) => `${rotate(index + 1).slice(0, 60)}${index}`,
  );
  const meant = `${rotate(0).slice(0, 60)}yz`;
  const before = process.cpuUsage();
  for (let times = 0; times < 20; times += 1)
    expect(findClosestName(`${rotate(0).slice(0, 60)}zy`, [...names, meant])).toBe(meant);
  const { user, system } = process.cpuUsage(before);
  // Comparing all of them in full takes more than 20 ms each time.
  expect((user + system) / 1_000 / 20).toBeLessThan(10);
});
