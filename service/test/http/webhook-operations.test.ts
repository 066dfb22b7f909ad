import { verifyWebhook } from 'trueward/server';
import type { AuditEntry, Delivery, Job, Problem, Webhook } from '@trueward/protocol/wire';
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
  const [request] = await receiver.waitForRequests(1);
  const event = await verifyWebhook(
    request?.body ?? '',
    request?.headers ?? {},
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

test('every secret is valid while rotations overlap', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const rotate = async (overlap_s: number) =>
    (await call<Webhook>('POST', `/v1/webhooks/${webhook.id}/rotate_secret`, { overlap_s })).body
      .secret ?? '';
  const secrets = [webhook.secret ?? '', await rotate(600), await rotate(600)];
  await sendTestEvent(webhook.id);
  const [firstRequest] = await receiver.waitForRequests(1);
  expect(firstRequest?.headers['service-signature']?.split(',').length).toBe(3);
  for (const secret of secrets)
    await verifyWebhook(firstRequest?.body ?? '', firstRequest?.headers ?? {}, secret);

  // A longer overlap postpones no end that is set already.
  const readEnds = async () => {
    const rows = await runningService.service.database.query<{ end: string }>(
      `SELECT expires_at::text AS end FROM secrets WHERE starts_with(id, $1) AND expires_at IS NOT NULL ORDER BY id`,
      [`${webhook.id}/`],
    );
    return rows.map(({ end }) => end);
  };
  const ends = await readEnds();
  await rotate(86_400);
  expect((await readEnds()).slice(0, 2)).toEqual(ends);

  const lastSecret = await rotate(0);
  await sendTestEvent(webhook.id);
  const secondRequest = (await receiver.waitForRequests(2))[1];
  expect(secondRequest?.headers['service-signature']?.split(',').length).toBe(1);
  await verifyWebhook(secondRequest?.body ?? '', secondRequest?.headers ?? {}, lastSecret);
  await expect(
    verifyWebhook(secondRequest?.body ?? '', secondRequest?.headers ?? {}, secrets[2] ?? ''),
  ).rejects.toMatchObject({ code: 'mismatch' });
  await receiver.close();
});

test('a webhook can have at most five valid secrets', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const rotate = (overlap_s: number) =>
    call<{ code?: string }>('POST', `/v1/webhooks/${webhook.id}/rotate_secret`, { overlap_s });
  for (let rotation = 0; rotation < 4; rotation += 1) expect((await rotate(600)).status).toBe(200);
  const rejection = await rotate(600);
  expect([rejection.status, rejection.body.code]).toEqual([409, 'conflict']);
  await sendTestEvent(webhook.id);
  const [firstRequest] = await receiver.waitForRequests(1);
  expect(firstRequest?.headers['service-signature']?.split(',').length).toBe(5);
  expect(firstRequest?.headers['webhook-signature']?.split(' ').length).toBe(5);
  // The rejected rotation must not invalidate any secret.
  await verifyWebhook(firstRequest?.body ?? '', firstRequest?.headers ?? {}, webhook.secret ?? '');
  expect((await rotate(0)).status).toBe(200);
  await receiver.close();
});

test('a webhook disabled by a 410 response can recover missed events', async () => {
  const receiver = await startReceiver((index) => (index === 0 ? 410 : 200));
  const webhook = await registerWebhook(receiver.url);
  const path = `/v1/webhooks/${webhook.id}`;
  const startTime = new Date(Date.now() - 1_000).toISOString();
  const { body: rejectedDelivery } = await sendTestEvent(webhook.id);
  await waitForState(rejectedDelivery.id, 'failed');
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

  // Events that occur while the webhook is disabled create no deliveries.
  await call('POST', '/v1/kill-switches', { scope: 'placement', target_id: 'lobby', state: 'on' });
  const enabledWebhook = await call<Webhook>('PATCH', path, { status: 'enabled' });
  expect(enabledWebhook.body).not.toHaveProperty('disabled_reason');
  // It is offered what it missed, until that has been sent again.
  expect(enabledWebhook.body.missed_since).toBe(disabledWebhook.disabled_at);
  const recover = async (): Promise<number> => {
    const query = `since=${encodeURIComponent(startTime)}`;
    const { status, body } = await call<Job>('POST', `${path}/recover?${query}`);
    expect([status, body.state]).toEqual([202, 'running']);
    let job: Job;
    do job = (await call<Job>('GET', `/v1/jobs/${body.id}`)).body;
    while (job.state === 'running');
    expect(job).toMatchObject({ state: 'done', progress: 1, kind: 'recovery' });
    return job.counts['queued'] ?? NaN;
  };
  const queued = await recover();
  expect((await call<Webhook>('GET', path)).body).not.toHaveProperty('missed_since');
  expect(queued).toBeGreaterThanOrEqual(2);
  const requests = await receiver.waitForRequests(1 + queued);
  expect(requests.slice(1).map(({ body: text }) => text)).toContain(requests[0]?.body);
  expect(await recover()).toBe(0);
  // A job that can't send anything would look like a success.
  expect(
    (await call<Problem>('POST', `${path}/recover?since=2100-01-01T00:00:00Z`)).body.errors,
  ).toMatchObject([{ pointer: '/since' }]);
  await receiver.close();
});

test('redelivering an event creates a new delivery', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const { body: delivery } = await sendTestEvent(webhook.id);
  await waitForState(delivery.id, 'delivered');
  const redelivery = await call<Delivery>('POST', `/v1/deliveries/${delivery.id}/redeliver`);
  expect(redelivery.body).toMatchObject({ event_id: delivery.event_id, state: 'pending' });
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
  let updatedWebhook: Webhook;
  do updatedWebhook = (await call<Webhook>('GET', `/v1/webhooks/${webhook.id}`)).body;
  while (updatedWebhook.status === 'enabled');
  expect(updatedWebhook.disabled_reason).toBe('failing');
  await receiver.close();
});

test('updating a webhook validates the changes', async () => {
  const webhook = await registerWebhook('https://receiver.example/');
  const path = `/v1/webhooks/${webhook.id}`;
  const rejection = await call<Problem>('PATCH', path, { url: 'https://169.254.169.254/' });
  expect([rejection.status, rejection.body.errors?.[0]?.pointer]).toEqual([422, '/url']);
  const changedWebhook = await call<Webhook>('PATCH', path, { events: ['decision.served'] });
  expect(changedWebhook.body.events).toEqual(['decision.served']);
});
