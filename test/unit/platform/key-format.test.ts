import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parseEnvironment, keyChecksum } from '../../../src/platform/key-format.ts';

const body = 'pk_sandbox_0123456789ABCDEFGHIJabcdefghij';
const key = body + keyChecksum(body);

describe('parseEnvironment', () => {
  test.each(['sandbox', 'live'])('returns %s for a key with a valid checksum', (environment) => {
    const text = `pk_${environment}_0123456789ABCDEFGHIJabcdefghij`;
    expect(parseEnvironment(text + keyChecksum(text))).toBe(environment);
  });

  test('accepts publishable keys only', () => {
    const secret = 'sk_live_0123456789ABCDEFGHIJabcdefghij';
    expect(parseEnvironment(secret + keyChecksum(secret))).toBeUndefined();
  });

  test('detects every single wrong character', () => {
    for (let index = body.length - 30; index < key.length; index++) {
      const wrong = key[index] === 'x' ? 'y' : 'x';
      const typed = key.slice(0, index) + wrong + key.slice(index + 1);
      expect(parseEnvironment(typed)).toBeUndefined();
    }
  });

  test.each(['', 'pk_sandbox_short', `${key}0`, key.replace('sandbox', 'test'), ` ${key}`])(
    'rejects %j as malformed',
    (text) => expect(parseEnvironment(text)).toBeUndefined(),
  );

  test('encodes CRC-32 as six base62 digits, most significant first', () => {
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const number = [...keyChecksum(body)].reduce(
      (sum, digit) => sum * 62 + alphabet.indexOf(digit),
      0,
    );
    expect(number).toBe(crc32(body));
  });
});
