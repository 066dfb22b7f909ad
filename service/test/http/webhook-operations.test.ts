import { verifyWebhook } from 'trueward/server';
import type { AuditEntry, Delivery, Problem, Webhook } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess();
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const call = <T>(method: string, path: string, body?: unknown) =>
  client.call<T>(method, path, client.secret, body);
const registerWebhook = async (url: string) =>
  (await call<Webhook>('POST', '/v1/webhooks', { url, events: ['kill_switch.changed'] })).body;
const sendTestEvent = (id: string) => call<Delivery>('POST', `/v1/webhooks/${id}/test`, {});

/** Polls a delivery until it has this state. An attempt is recorded only after the receiver has responded. */
async function waitForState(id: string, state: Delivery['state']): Promise<Delivery> {
  for (;;) {
    const { body } = await call<Delivery>('GET', `/v1/deliveries/${id}`);
    if (body.state === state) return body;
  }
}

test('a test event is signed, and its attempt is listed', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const { status, body: delivery } = await sendTestEvent(webhook.id);
  expect([status, delivery.state]).toEqual([202, 'pending']);
  const [received] = await receiver.waitForRequests(1);
  const event = await verifyWebhook(
    received?.body ?? '',
    received?.headers ?? {},
    webhook.secret ?? '',
  );
  expect(event).toMatchObject({ id: delivery.event_id, type: 'kill_switch.changed' });
  const finishedDelivery = await waitForState(delivery.id, 'delivered');
  expect(finishedDelivery.attempts).toMatchObject([
    { attempt: 1, status: 200, response: 'received' },
  ]);
  const list = await call<{ data: Delivery[] }>('GET', `/v1/webhooks/${webhook.id}/deliveries`);
  expect(list.body.data).toEqual([finishedDelivery]);
  await receiver.close();
});

test('every secret is valid during the overlap of rotations', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const rotate = async (overlap_s: number) =>
    (await call<Webhook>('POST', `/v1/webhooks/${webhook.id}/rotate_secret`, { overlap_s })).body
      .secret ?? '';
  const secrets = [webhook.secret ?? '', await rotate(600), await rotate(600)];
  await sendTestEvent(webhook.id);
  const [first] = await receiver.waitForRequests(1);
  expect(first?.headers['service-signature']?.split(',').length).toBe(3);
  for (const secret of secrets)
    await verifyWebhook(first?.body ?? '', first?.headers ?? {}, secret);

  const lastSecret = await rotate(0);
  await sendTestEvent(webhook.id);
  const second = (await receiver.waitForRequests(2))[1];
  expect(second?.headers['service-signature']?.split(',').length).toBe(1);
  await verifyWebhook(second?.body ?? '', second?.headers ?? {}, lastSecret);
  await expect(
    verifyWebhook(second?.body ?? '', second?.headers ?? {}, secrets[2] ?? ''),
  ).rejects.toMatchObject({ code: 'mismatch' });
  await receiver.close();
});

test('a webhook can have at most five valid secrets', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const rotate = (overlap_s: number) =>
    call<{ code?: string }>('POST', `/v1/webhooks/${webhook.id}/rotate_secret`, { overlap_s });
  for (let rotation = 0; rotation < 4; rotation += 1) expect((await rotate(600)).status).toBe(200);
  const rejected = await rotate(600);
  expect([rejected.status, rejected.body.code]).toEqual([409, 'conflict']);
  await sendTestEvent(webhook.id);
  const [first] = await receiver.waitForRequests(1);
  expect(first?.headers['service-signature']?.split(',').length).toBe(5);
  expect(first?.headers['webhook-signature']?.split(' ').length).toBe(5);
  // The rejected rotation must not invalidate any secret.
  await verifyWebhook(first?.body ?? '', first?.headers ?? {}, webhook.secret ?? '');
  expect((await rotate(0)).status).toBe(200);
  await receiver.close();
});

test('a webhook that a 410 response disabled can recover missed events', async () => {
  const receiver = await startReceiver((index) => (index === 0 ? 410 : 200));
  const webhook = await registerWebhook(receiver.url);
  const path = `/v1/webhooks/${webhook.id}`;
  const startTime = new Date(Date.now() - 1_000).toISOString();
  const { body: rejected } = await sendTestEvent(webhook.id);
  await waitForState(rejected.id, 'failed');
  let disabledWebhook: Webhook;
  do disabledWebhook = (await call<Webhook>('GET', path)).body;
  while (disabledWebhook.status === 'enabled');
  expect(disabledWebhook.disabled_reason).toBe('gone');
  const audit = await call<{ data: AuditEntry[] }>(
    'GET',
    `/v1/audit-entries?target_id=${webhook.id}`,
  );
  expect(audit.body.data[0]).toMatchObject({ actor: 'service', action: 'webhook.disabled' });
  expect((await sendTestEvent(webhook.id)).status).toBe(409);

  // Events that occur while the webhook is disabled create no delivery.
  await call('POST', '/v1/kill-switches', { scope: 'placement', target_id: 'lobby', state: 'on' });
  const enabledWebhook = await call<Webhook>('PATCH', path, { status: 'enabled' });
  expect(enabledWebhook.body).not.toHaveProperty('disabled_reason');
  const recover = () =>
    call<{ queued: number }>('POST', `${path}/recover?since=${encodeURIComponent(startTime)}`);
  const { body } = await recover();
  expect(body.queued).toBeGreaterThanOrEqual(2);
  const received = await receiver.waitForRequests(1 + body.queued);
  expect(received.slice(1).map(({ body: text }) => text)).toContain(received[0]?.body);
  expect((await recover()).body.queued).toBe(0);
  await receiver.close();
});

test('a delivery can be redelivered as a new delivery', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const { body: first } = await sendTestEvent(webhook.id);
  await waitForState(first.id, 'delivered');
  const redelivery = await call<Delivery>('POST', `/v1/deliveries/${first.id}/redeliver`);
  expect(redelivery.body).toMatchObject({ event_id: first.event_id, state: 'pending' });
  const [firstRequest, secondRequest] = await receiver.waitForRequests(2);
  expect(secondRequest?.body).toBe(firstRequest?.body);
  await receiver.close();
});

test('five days of failures disable a webhook', async () => {
  const receiver = await startReceiver(() => 500);
  const webhook = await registerWebhook(receiver.url);
  await runningService.service.database.query(
    `INSERT INTO webhook_failures SELECT account_id, id, now() - interval '5 days', 3 FROM resources WHERE id = $1`,
    [webhook.id],
  );
  await sendTestEvent(webhook.id);
  let read: Webhook;
  do read = (await call<Webhook>('GET', `/v1/webhooks/${webhook.id}`)).body;
  while (read.status === 'enabled');
  expect(read.disabled_reason).toBe('failing');
  await receiver.close();
});

test('updating a webhook validates the changes', async () => {
  const webhook = await registerWebhook('https://receiver.example/');
  const path = `/v1/webhooks/${webhook.id}`;
  const rejected = await call<Problem>('PATCH', path, { url: 'https://169.254.169.254/' });
  expect([rejected.status, rejected.body.errors?.[0]?.pointer]).toEqual([422, '/url']);
  const changedWebhook = await call<Webhook>('PATCH', path, { events: ['decision.served'] });
  expect(changedWebhook.body.events).toEqual(['decision.served']);
});
