import { expect, test } from 'vitest';
import {
  hashKey,
  makeGameId,
  makePublishableKeyText,
  makeSecretKeyText,
  parseKeyText,
} from '../../src/access/key-store.ts';
import { keyChecksum, parseKey } from '../../../src/platform/key-format.ts';

test.each([
  ['sk', 'sandbox'],
  ['sk', 'live'],
  ['pk', 'sandbox'],
  ['pk', 'live'],
] as const)(
  'a generated %s_%s key is parsed by the service and by the SDK',
  (kind, environment) => {
    for (let round = 0; round < 50; round += 1) {
      const gameId = makeGameId();
      const text =
        kind === 'sk'
          ? makeSecretKeyText(environment)
          : makePublishableKeyText(environment, gameId);
      expect(parseKeyText(text)).toEqual({ kind, environment });
      expect(parseKey(text)).toEqual(kind === 'pk' ? { environment, gameId } : undefined);
    }
  },
);

test('a key with a single mistyped character is invalid', () => {
  const text = makeSecretKeyText('live');
  for (let position = 'sk_live_'.length; position < text.length; position += 1) {
    const typo = text.charAt(position) === 'a' ? 'b' : 'a';
    expect(parseKeyText(text.slice(0, position) + typo + text.slice(position + 1))).toBeUndefined();
  }
});

test('a key with an edited environment or kind is invalid', () => {
  const text = makeSecretKeyText('sandbox');
  expect(parseKeyText(text.replace('sandbox', 'live'))).toBeUndefined();
  expect(parseKeyText(text.replace('sk_', 'pk_'))).toBeUndefined();
});

test.each(['', 'sk_live_x', `sk_prod_${'x'.repeat(30)}`, `pk_live_${'x'.repeat(30)}`, 'whsec_abc'])(
  'a text %j with a right checksum is not a key',
  (body) => {
    expect(parseKeyText(body + keyChecksum(body))).toBeUndefined();
  },
);

test.each(['', 'sk_live_', 'whsec_abc', ' sk_live_x', 'SK_LIVE_'])('%j is not a key', (text) => {
  expect(parseKeyText(text)).toBeUndefined();
});

test('a key’s hash does not contain the key', () => {
  const text = makeSecretKeyText('live');
  expect(hashKey(text)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashKey(text)).not.toContain(text.slice(8, 12));
});
