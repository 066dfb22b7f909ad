import type { Problem, Webhook } from '@trueward/protocol/wire';
import { verifyWebhook } from 'trueward/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createRunningClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

const clock = createRunningClock();
let service: InProcessService;
let client: Client;
beforeAll(async () => {
  service = await startInProcess({}, { clock });
  client = createClient(service);
});
afterAll(() => service.stop());

const registerWebhook = (url: string, events = ['decision.served']) =>
  client.call<Webhook>('POST', '/v1/webhooks', client.secret, { url, events });

/** Requests a decision and reports its impression, which emits one `decision.served` event. */
async function serve(userRef: string, sender: Client = client): Promise<void> {
  const decision = await sender.decideImage(userRef);
  clock.advance(1_000);
  await sender.report(sender.createImpression(decision));
}

/**
 * Skips the five-second delay before the second attempt. Updates the row, because the delay depends on the database's
 * clock.
 */
async function skipWait(webhook: Webhook): Promise<void> {
  clock.advance(5_000);
  let dueRows: unknown[] = [];
  // Polls, because the first attempt is recorded only after the receiver has responded.
  while (dueRows.length === 0) {
    dueRows = await service.service.database.query(
      `UPDATE delivery_queue SET next_at = now() WHERE webhook_id = $1 AND attempt = 1 RETURNING id`,
      [webhook.id],
    );
  }
}

test('a failed delivery is retried with a new signature', async () => {
  const receiver = await startReceiver((index) => (index === 0 ? 500 : 204));
  const { body: webhook } = await registerWebhook(receiver.url);
  await serve('retry');
  await receiver.waitForRequests(1);
  await skipWait(webhook);
  const [firstRequest, secondRequest] = await receiver.waitForRequests(2);
  expect(secondRequest?.body).toBe(firstRequest?.body);
  expect(secondRequest?.headers['service-timestamp']).not.toBe(
    firstRequest?.headers['service-timestamp'],
  );
  const event = await verifyWebhook(
    secondRequest?.body ?? '',
    secondRequest?.headers ?? {},
    webhook.secret ?? '',
    { now: clock.nowMs },
  );
  expect(event).toMatchObject({
    type: 'decision.served',
    data: { placement: 'revive', user_ref: 'retry', viewable: true },
  });
  await client.call('DELETE', `/v1/webhooks/${webhook.id}`, client.secret);
  await receiver.close();
});

test('a 410 response disables an endpoint, and redirects are not followed', async () => {
  const goneReceiver = await startReceiver(() => 410);
  const redirectingReceiver = await startReceiver(() => 302);
  const { body: goneWebhook } = await registerWebhook(goneReceiver.url);
  const { body: redirectingWebhook } = await registerWebhook(redirectingReceiver.url);
  await serve('gone');
  await Promise.all([goneReceiver.waitForRequests(1), redirectingReceiver.waitForRequests(1)]);
  await skipWait(redirectingWebhook);
  await redirectingReceiver.waitForRequests(2); // the second is the retry, not the redirect
  const readWebhook = (id: string) =>
    client.call<Webhook>('GET', `/v1/webhooks/${id}`, client.secret);
  // Polls, because the endpoint is disabled only once the attempt has been recorded.
  await expect
    .poll(async () => (await readWebhook(goneWebhook.id)).body)
    .toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
  expect((await readWebhook(redirectingWebhook.id)).body).toMatchObject({ status: 'enabled' });
  expect(redirectingReceiver.requests.map(({ body }) => body)).toEqual([
    redirectingReceiver.requests[0]?.body,
    redirectingReceiver.requests[0]?.body,
  ]);
  await client.call('DELETE', `/v1/webhooks/${redirectingWebhook.id}`, client.secret);
  await Promise.all([goneReceiver.close(), redirectingReceiver.close()]);
});

test('an endpoint gets only events that it subscribes to, from its own environment', async () => {
  const receiver = await startReceiver();
  const live = createClient(service, 'live');
  await registerWebhook(receiver.url, ['decision.served']);
  await serve('live', live);
  await serve('sandbox');
  const requests = await receiver.waitForRequests(1);
  expect(requests.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { environment: 'sandbox', data: { user_ref: 'sandbox' } },
  ]);
  await receiver.close();
});

test.each([
  ['http://example.com/hook', '/url'],
  ['https://127.0.0.1/hook-in-live', '/url', 'live'],
  ['https://169.254.169.254/latest', '/url'],
  ['https://[::ffff:10.0.0.1]/', '/url'],
  ['https://user:password@example.com/', '/url'],
  ['ftp://example.com/', '/url'],
] as const)(
  'the webhook URL %s is rejected',
  async (url, pointer, environment: 'sandbox' | 'live' = 'sandbox') => {
    const { status, body } = await client.call<Problem>(
      'POST',
      '/v1/webhooks',
      service.keys[environment].secret,
      {
        url,
        events: ['decision.served'],
      },
    );
    expect(status).toBe(422);
    expect(body.errors?.[0]?.pointer).toBe(pointer);
  },
);

test.each([[[]], [['decision.served', 'decision.served']], [['decision.danced']]])(
  'the event types %j are rejected',
  async (events) => {
    expect((await registerWebhook('https://example.com/', events)).status).toBe(422);
  },
);

test('webhook lists do not contain secrets', async () => {
  const { status, body: webhook } = await registerWebhook('https://example.com/hook');
  expect(status).toBe(201);
  expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { secret: _secret, ...webhookWithoutSecret } = webhook;
  const path = `/v1/webhooks/${webhook.id}`;
  expect((await client.call('GET', path, client.secret)).body).toEqual(webhookWithoutSecret);
  expect(
    (await client.call<{ data: Webhook[] }>('GET', '/v1/webhooks', client.secret)).body.data,
  ).toContainEqual(webhookWithoutSecret);
  expect((await client.call('DELETE', path, client.secret)).status).toBe(204);
  expect((await client.call('GET', path, client.secret)).status).toBe(404);
  expect((await client.call('DELETE', path, client.secret)).status).toBe(404);
});
