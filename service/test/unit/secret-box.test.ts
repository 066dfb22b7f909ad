import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { beginFileRotation, createSecretBox, openSecretBox } from '../../src/access/secret-box.ts';

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

test('after an interrupted rotation of the key file, secrets open with either key', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'trueward-keys-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
  const open = () => openSecretBox({ dataDirectory });
  const before = open().seal('before');
  const rotation = beginFileRotation({ dataDirectory });
  const after = rotation.box.seal('after');
  // The process has been killed, and the service starts again.
  expect([open().open(before), open().open(after)]).toEqual(['before', 'after']);
  await beginFileRotation({ dataDirectory }).finish();
  expect(open().open(after)).toBe('after');
  expect(() => open().open(before)).toThrow('The master key cannot decrypt');
});
