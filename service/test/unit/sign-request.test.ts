import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signWebhook } from 'trueward/server';
import { signRequest } from '../../src/webhook/sender.ts';

const secret = fc
  .uint8Array({ minLength: 24, maxLength: 40 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);

test('a request’s signatures match those from `signWebhook` in trueward/server', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 1e11 }),
      async (body, secrets, timestampS) => {
        const id = 'evt_01h455vb4pex5vsknk084sn02q';
        expect(signRequest({ id, body, secrets, timestampS })).toEqual(
          await signWebhook(body, secrets, timestampS, id),
        );
      },
    ),
  );
});
