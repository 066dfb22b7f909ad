import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { keyChecksum, parseKey } from '../../../src/platform/key-format.ts';

const body = 'pk_sandbox_0123456789_ABCDEFGHIJabcdefghij';
const key = body + keyChecksum(body);

describe('parseKey', () => {
  test.each(['sandbox', 'live'])(
    'returns %s and the game’s id for a key with a valid checksum',
    (environment) => {
      const text = `pk_${environment}_0123456789_ABCDEFGHIJabcdefghij`;
      expect(parseKey(text + keyChecksum(text))).toEqual({ environment, gameId: '0123456789' });
    },
  );

  test('accepts publishable keys only', () => {
    const secret = 'sk_live_0123456789_ABCDEFGHIJabcdefghij';
    expect(parseKey(secret + keyChecksum(secret))).toBeUndefined();
  });

  test('detects every single wrong character', () => {
    for (let index = body.length - 31; index < key.length; index++) {
      const wrong = key[index] === 'x' ? 'y' : 'x';
      const typed = key.slice(0, index) + wrong + key.slice(index + 1);
      expect(parseKey(typed)).toBeUndefined();
    }
  });

  test.each(['', 'pk_sandbox_short', `${key}0`, key.replace('sandbox', 'test'), ` ${key}`])(
    'rejects %j as malformed',
    (text) => expect(parseKey(text)).toBeUndefined(),
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
