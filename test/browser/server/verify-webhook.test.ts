/** A browser page stands in for any runtime that has Web APIs but no Node APIs. */
import { expect, test } from 'vitest';
import { signWebhook, verifyWebhook } from '../../../src/server/index.ts';

const secret = 'whsec_0123456789abcdefghijklmnopqrstuv';
const body = JSON.stringify({
  id: 'evt_01k9ds4m3hf1pb4r8pqd2qyfzz',
  type: 'decision.rewarded',
  created_at: '2026-11-21T10:00:00.000Z',
  environment: 'sandbox',
  data: {
    decision_id: 'dec_01k9ds4m3hf1pb4r8pqd2qyfzz',
    placement: 'revive',
    user_ref: 'Ünï',
    reward: { type: 'coins', amount: 5 },
  },
});
const sign = async () => ({
  ...(await signWebhook(body, secret, Math.floor(Date.now() / 1_000))),
});

test('verifies a webhook’s body as text or bytes in a browser', async () => {
  expect(globalThis).not.toHaveProperty('Buffer');
  const request = new Request('https://game.example/', {
    method: 'POST',
    headers: await sign(),
    body,
  });
  const text = await request.clone().text();
  expect(await verifyWebhook(text, request.headers, secret)).toEqual(JSON.parse(body));
  const bytes = new Uint8Array(await request.arrayBuffer());
  expect(await verifyWebhook(bytes, request.headers, secret)).toEqual(JSON.parse(body));
});

test('rejects a modified webhook in a browser', async () => {
  await expect(
    verifyWebhook(body.replace('"amount":5', '"amount":6'), await sign(), secret),
  ).rejects.toMatchObject({ code: 'mismatch' });
});
