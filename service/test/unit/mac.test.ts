import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMac } from '../../src/platform/mac.ts';

test('it is the HMAC-SHA256 that Node makes, for every key and text', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1_000 }));
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.array(text), (key, texts) => {
      const mac = createMac(key);
      for (const one of texts)
        expect(mac(one)).toBe(createHmac('sha256', key).update(one).digest('base64url'));
    }),
  );
});
