import { expect, test } from 'vitest';
import { normalizeEmail } from '../../src/access/user.ts';

test.each([
  [' Owner@Example.com\n', 'owner@example.com'],
  ['ÄRGER@example.com', 'ärger@example.com'],
  ['\u212aim@example.com', '\u212aim@example.com'],
  ['İvan@example.com', 'İvan@example.com'],
])('the address %j becomes %j', (email, expected) => {
  expect(normalizeEmail(email)).toBe(expected);
});

test('no other letter becomes an ASCII letter, so that nobody has the address of somebody else', () => {
  const letters = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code > 0x7f && (code < 0xd800 || code > 0xdfff))
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => letter.toLowerCase() !== letter);
  const collisions = letters.filter((letter) => /[a-z]/.test(normalizeEmail(`${letter}@1.2`)));
  expect(collisions).toEqual([]);
});
