import { expect, test } from 'vitest';
import { createSecretCache } from '../../src/webhook/webhook-secrets.ts';

test('remembered secrets end when they expire, and are read again for a new version', async () => {
  let [nowMs, version, reads] = [0, 1, 0];
  let secrets = [
    { secret: 'whsec_new', expiresAtMs: Infinity },
    { secret: 'whsec_old', expiresAtMs: 60_000 },
  ];
  const readSecrets = createSecretCache({
    clock: { nowMs: () => nowMs },
    version: () => version,
    async read() {
      reads += 1;
      return secrets;
    },
  });
  const read = () => readSecrets('acc_1', 'whk_1');
  expect(await read()).toEqual(['whsec_new', 'whsec_old']);
  nowMs = 59_999;
  expect(await read()).toEqual(['whsec_new', 'whsec_old']);
  nowMs = 60_000;
  expect(await read()).toEqual(['whsec_new']);
  secrets = [{ secret: 'whsec_next', expiresAtMs: Infinity }];
  expect([await read(), reads]).toEqual([['whsec_new'], 1]);
  version = 2;
  expect([await read(), reads]).toEqual([['whsec_next'], 2]);
});
