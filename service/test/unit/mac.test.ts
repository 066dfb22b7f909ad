import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMac } from '../../src/platform/mac.ts';

test('it is the HMAC-SHA256 that Node makes, for every key and text', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1_000 }));
  const ascii = fc.string({
    unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
    maxLength: 64,
  });
  fc.assert(
    fc.property(ascii, fc.array(text), (key, texts) => {
      const mac = createMac(key);
      for (const one of texts)
        expect(mac(one)).toBe(createHmac('sha256', key).update(one).digest('base64url'));
    }),
  );
});

test.each(['k'.repeat(65), 'schlüssel'])('a key that it could not use is refused: %s', (key) => {
  expect(() => createMac(key)).toThrow('at most 64 characters of ASCII');
});
