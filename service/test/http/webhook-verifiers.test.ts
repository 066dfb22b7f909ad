/**
 * Verifies the service's deliveries with third-party packages. `stripe` and `@octokit/webhooks-methods` use the same
 * scheme as the service: HMAC-SHA256 in lowercase hex, with the whole secret as the key. Like the service, `stripe`
 * signs `<timestamp>.<body>`. `@octokit/webhooks-methods` signs any payload, so the tests pass it the same text.
 * `standardwebhooks` verifies the Standard Webhooks headers, which the service also sends, and needs no adaptation.
 */
import { verify as verifyOctokit } from '@octokit/webhooks-methods';
import type { Webhook } from '@trueward/protocol/wire';
import { Webhook as StandardWebhook, WebhookVerificationError } from 'standardwebhooks';
import Stripe from 'stripe';
import { signWebhook, verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

interface SignedDelivery {
  body: string;
  timestamp: string;
  /** The signatures in the received header, each in the form `v1=…`. */
  signature: string;
}

const verifyStripe = (secret: string, { body, timestamp, signature }: SignedDelivery): boolean => {
  try {
    Stripe.webhooks.constructEvent(body, `t=${timestamp},${signature}`, secret);
    return true;
  } catch (error) {
    // Other errors are unexpected.
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
};

const verifyOctokitSignature = async (
  secret: string,
  { body, timestamp, signature }: SignedDelivery,
) => {
  const values = signature.split(',').map((part) => part.replace('v1=', 'sha256='));
  const results = await Promise.all(
    values.map((value) => verifyOctokit(secret, `${timestamp}.${body}`, value)),
  );
  return results.includes(true);
};

const verifyWithTrueward = (
  secret: string,
  { body, timestamp, signature }: SignedDelivery,
): Promise<boolean> =>
  verifyWebhook(
    body,
    { 'service-timestamp': timestamp, 'service-signature': signature },
    secret,
  ).then(
    () => true,
    () => false,
  );

let runningService: InProcessService;
let secret: string;
let newSecret: string;
let delivery: SignedDelivery;
/** The received Standard Webhooks headers. */
let standardHeaders: Record<string, string>;
beforeAll(async () => {
  runningService = await startInProcess();
  const client = createClient(runningService);
  const receiver = await startReceiver();
  const post = async <T>(path: string, body: object) =>
    (await client.call<T>('POST', path, client.secret, body)).body;
  const webhook = await post<Webhook>('/v1/webhooks', {
    url: receiver.url,
    events: ['decision.rewarded'],
  });
  secret = webhook.secret ?? '';
  const path = `/v1/webhooks/${webhook.id}`;
  newSecret = (await post<Webhook>(`${path}/rotate_secret`, { overlap_s: 600 })).secret ?? '';
  await post(`${path}/test`, {});
  const [request] = await receiver.waitForRequests(1);
  delivery = {
    body: request?.body ?? '',
    timestamp: request?.headers['service-timestamp'] ?? '',
    signature: request?.headers['service-signature'] ?? '',
  };
  standardHeaders = Object.fromEntries(
    Object.entries(request?.headers ?? {}).filter(([name]) => name.startsWith('webhook-')),
  );
  await receiver.close();
});
afterAll(() => runningService.stop());

test.each([
  ['trueward/server', verifyWithTrueward],
  ['stripe', verifyStripe],
  ['@octokit/webhooks-methods', verifyOctokitSignature],
])('%s verifies a delivery only with the new or the old secret', async (_name, verify) => {
  expect(delivery.signature.split(',')).toHaveLength(2);
  expect(await verify(newSecret, delivery)).toBe(true);
  expect(await verify(secret, delivery)).toBe(true);
  expect(await verify(flipBit(secret, secret.length - 8), delivery)).toBe(false);
});

/** Flips the lowest bit of one character. */
const flipBit = (text: string, index: number): string =>
  text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1);

test.each(['body', 'timestamp', 'signature'] as const)(
  'every verifier rejects a delivery with a changed byte in its %s',
  async (part) => {
    const headers = await signWebhook(delivery.body, newSecret, Math.floor(Date.now() / 1_000));
    const singleSignatureDelivery: SignedDelivery = {
      body: delivery.body,
      timestamp: headers['service-timestamp'],
      signature: headers['service-signature'],
    };
    expect(await verifyWithTrueward(newSecret, singleSignatureDelivery)).toBe(true);
    const text = singleSignatureDelivery[part];
    for (let index = 0; index < text.length; index += 1) {
      const changedDelivery = { ...singleSignatureDelivery, [part]: flipBit(text, index) };
      expect([
        index,
        await verifyWithTrueward(newSecret, changedDelivery),
        verifyStripe(newSecret, changedDelivery),
        // For this package, the test replaces the prefix, so changing the prefix would not test the package.
        part === 'signature' && index < 3
          ? false
          : await verifyOctokitSignature(newSecret, changedDelivery),
      ]).toEqual([index, false, false, false]);
    }
  },
);

/** Verifies a delivery with `standardwebhooks` only. */
function verifyStandard(
  verificationSecret: string,
  headers: Record<string, string>,
  body = delivery.body,
): boolean {
  try {
    return Boolean(new StandardWebhook(verificationSecret).verify(body, headers));
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const verifyStandardWithTrueward = (
  verificationSecret: string,
  headers: Record<string, string>,
  body = delivery.body,
) =>
  verifyWebhook(body, headers, verificationSecret).then(
    () => true,
    () => false,
  );

test('`standardwebhooks` verifies a delivery only with the new or the old secret', async () => {
  expect(Object.keys(standardHeaders).toSorted()).toEqual([
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
  ]);
  expect(standardHeaders['webhook-id']).toBe((JSON.parse(delivery.body) as { id: string }).id);
  for (const verify of [verifyStandard, verifyStandardWithTrueward]) {
    expect(await verify(newSecret, standardHeaders)).toBe(true);
    expect(await verify(secret, standardHeaders)).toBe(true);
    const otherSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    expect(await verify(otherSecret, standardHeaders)).toBe(false);
  }
});

test('`standardwebhooks` rejects a delivery with a changed byte', async () => {
  const timestampS = Number(delivery.timestamp);
  const id = standardHeaders['webhook-id'] ?? '';
  const allHeaders = await signWebhook(delivery.body, newSecret, timestampS, id);
  const {
    'service-timestamp': _timestamp,
    'service-signature': _signature,
    ...headers
  } = allHeaders;
  expect([
    verifyStandard(newSecret, headers),
    await verifyStandardWithTrueward(newSecret, headers),
  ]).toEqual([true, true]);
  for (const [name, value] of [...Object.entries(headers), ['body', delivery.body] as const]) {
    for (let index = 0; index < value.length; index += 1) {
      const changedValue = flipBit(value, index);
      const [sentHeaders, body] =
        name === 'body'
          ? [headers, changedValue]
          : [{ ...headers, [name]: changedValue }, delivery.body];
      expect([name, index, await verifyStandardWithTrueward(newSecret, sentHeaders, body)]).toEqual(
        [name, index, false],
      );
      expect([name, index, verifyStandard(newSecret, sentHeaders, body)]).toEqual([
        name,
        index,
        false,
      ]);
    }
  }
});

test('`verifyWebhook` accepts deliveries signed by `standardwebhooks`', async () => {
  const signedAt = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1_000)),
    'webhook-signature': new StandardWebhook(secret).sign('evt_1', signedAt, delivery.body),
  };
  expect(await verifyStandardWithTrueward(secret, headers)).toBe(true);
  expect(await verifyStandardWithTrueward(newSecret, headers)).toBe(false);
});

test('a delivery with a truncated or extended body is rejected', async () => {
  for (const body of [delivery.body.slice(1), delivery.body.slice(0, -1), `${delivery.body} `]) {
    const changedDelivery = { ...delivery, body };
    expect([
      await verifyWithTrueward(newSecret, changedDelivery),
      verifyStripe(newSecret, changedDelivery),
      await verifyOctokitSignature(newSecret, changedDelivery),
    ]).toEqual([false, false, false]);
  }
});
