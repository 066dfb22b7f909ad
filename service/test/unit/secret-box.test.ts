import { expect, test } from 'vitest';
import { createSecretBox } from '../../src/access/secret-box.ts';

test('decrypting a secret requires its master key and the unmodified ciphertext', () => {
  const box = createSecretBox([new Uint8Array(32)]);
  const ciphertext = box.seal('whsec_x');
  expect(box.open(ciphertext)).toBe('whsec_x');
  expect(ciphertext).not.toContain('whsec');
  const otherKey = new Uint8Array(32).fill(1);
  expect(() => createSecretBox([otherKey]).open(ciphertext)).toThrow(
    'The master key cannot decrypt',
  );
  expect(createSecretBox([otherKey, new Uint8Array(32)]).open(ciphertext)).toBe(
    box.open(ciphertext),
  );
  expect(() =>
    box.open(ciphertext.slice(0, -2) + (ciphertext.endsWith('AA') ? 'BB' : 'AA')),
  ).toThrow();
});
