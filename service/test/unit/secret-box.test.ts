import { expect, test } from 'vitest';
import { createSecretBox } from '../../src/key/secret-box.ts';

test('decrypting a secret requires its master key and the unmodified ciphertext', () => {
  const box = createSecretBox([new Uint8Array(32)]);
  const sealed = box.seal('whsec_x');
  expect(box.open(sealed)).toBe('whsec_x');
  expect(sealed).not.toContain('whsec');
  const other = new Uint8Array(32).fill(1);
  expect(() => createSecretBox([other]).open(sealed)).toThrow('The master key does not decrypt');
  expect(createSecretBox([other, new Uint8Array(32)]).open(sealed)).toBe(box.open(sealed));
  expect(() => box.open(sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA'))).toThrow();
});
