import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delivery, Webhook, WebhookHealth, WebhookHealthList } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess({ RATE_LIMITS: 'off' });
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const call = <T>(method: string, path: string, body?: unknown) =>
  client.call<T>(method, path, client.secret, body);
const registerWebhook = async (url: string) =>
  (await call<Webhook>('POST', '/v1/webhooks', { url, events: ['kill_switch.changed'] })).body;
const sendTestEvent = (id: string) => call<Delivery>('POST', `/v1/webhooks/${id}/test`, {});

/** Starts a receiver that holds all requests until the test calls `respond`. */
async function startSlowReceiver() {
  const openResponses: ServerResponse[] = [];
  let notify: () => void = () => undefined;
  let [maxInFlight, requestCount] = [0, 0];
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => {
      openResponses.push(response);
      requestCount += 1;
      maxInFlight = Math.max(maxInFlight, openResponses.length);
      notify();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    readMaxInFlight: () => maxInFlight,
    /** Resolves when the receiver has received this many requests in total. */
    async waitForRequests(targetCount: number): Promise<void> {
      while (requestCount < targetCount) await new Promise<void>((resolve) => (notify = resolve));
    },
    respond(status: number): void {
      for (const response of openResponses.splice(0)) response.writeHead(status).end();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

test('a hanging endpoint has at most four requests in flight and does not delay other endpoints', async () => {
  const slowReceiver = await startSlowReceiver();
  const quickReceiver = await startReceiver();
  const slowWebhook = await registerWebhook(slowReceiver.url);
  const quickWebhook = await registerWebhook(quickReceiver.url);
  for (let count = 0; count < 10; count += 1) await sendTestEvent(slowWebhook.id);
  await slowReceiver.waitForRequests(4);
  for (let count = 0; count < 10; count += 1) await sendTestEvent(quickWebhook.id);
  await quickReceiver.waitForRequests(10);
  expect(slowReceiver.readMaxInFlight()).toBe(4);
  for (const expectedCount of [8, 10]) {
    slowReceiver.respond(200);
    await slowReceiver.waitForRequests(expectedCount);
  }
  slowReceiver.respond(200);
  await Promise.all([slowReceiver.close(), quickReceiver.close()]);
});

test('a failing endpoint gets a single probe before deliveries resume', async () => {
  const receiver = await startSlowReceiver();
  const webhook = await registerWebhook(receiver.url);
  await runningService.service.database.query(
    `INSERT INTO webhook_failures SELECT account_id, id, now(), 5 FROM resources WHERE id = $1`,
    [webhook.id],
  );
  for (let count = 0; count < 5; count += 1) await sendTestEvent(webhook.id);
  // A delivery to another endpoint shows that the dispatcher has claimed all due deliveries.
  const otherReceiver = await startReceiver();
  await sendTestEvent((await registerWebhook(otherReceiver.url)).id);
  await otherReceiver.waitForRequests(1);
  expect(receiver.readMaxInFlight()).toBe(1);
  receiver.respond(200);
  await receiver.waitForRequests(5);
  receiver.respond(200);
  await Promise.all([receiver.close(), otherReceiver.close()]);
});

test('the health tells since when and why a webhook fails, and what is queued', async () => {
  const readHealth = async (id: string): Promise<WebhookHealth | undefined> =>
    (await call<WebhookHealthList>('GET', '/v1/webhook-health')).body.data.find(
      ({ webhook_id: webhookId }) => webhookId === id,
    );
  const receiver = await startReceiver(() => 503);
  const webhook = await registerWebhook(receiver.url);
  const other = await registerWebhook(receiver.url);
  expect(await readHealth(webhook.id)).toEqual({
    webhook_id: webhook.id,
    state: 'healthy',
    queued: 0,
  });
  const sentAtMs = Date.now();
  await sendTestEvent(webhook.id);
  await sendTestEvent(webhook.id);
  await expect.poll(async () => (await readHealth(webhook.id))?.state).toBe('failing');
  const health = await readHealth(webhook.id);
  expect(health).toMatchObject({ queued: 2, last_failure: 'status 503' });
  expect(health?.failed_attempts).toBeGreaterThanOrEqual(1);
  const sinceMs = Date.parse(health?.failing_since ?? '');
  expect(Math.abs(sinceMs - sentAtMs)).toBeLessThan(60_000);
  expect(Date.parse(health?.disables_at ?? '') - sinceMs).toBe(5 * 86_400_000);
  // The second event may still be waiting for its first attempt, which was due when it was sent.
  expect(Date.parse(health?.next_attempt_at ?? '')).toBeGreaterThanOrEqual(sentAtMs);
  expect((await readHealth(other.id))?.state).toBe('healthy');
  await call('PATCH', `/v1/webhooks/${webhook.id}`, { status: 'disabled' });
  expect((await readHealth(webhook.id))?.state).toBe('disabled');
  const live = createClient(runningService, 'live');
  expect(
    (await live.call<WebhookHealthList>('GET', '/v1/webhook-health', live.secret)).body.data,
  ).toEqual([]);
  await receiver.close();
});

test('an endpoint gets no requests until its Retry-After delay has elapsed', async () => {
  const receiver = await startReceiver(() => 503, { 'retry-after': '60' });
  const webhook = await registerWebhook(receiver.url);
  const { body: firstDelivery } = await sendTestEvent(webhook.id);
  const readDelivery = async () =>
    (await call<Delivery>('GET', `/v1/deliveries/${firstDelivery.id}`)).body;
  await expect.poll(async () => (await readDelivery()).attempts).toHaveLength(1);
  const delivery = await readDelivery();
  const [attempt] = delivery.attempts;
  const waitMs = Date.parse(delivery.next_attempt_at ?? '') - Date.parse(attempt?.started_at ?? '');
  expect(waitMs).toBeGreaterThanOrEqual(60_000);

  const { body: secondDelivery } = await sendTestEvent(webhook.id);
  // A delivery to another endpoint shows that the dispatcher has claimed all due deliveries.
  const otherReceiver = await startReceiver();
  await sendTestEvent((await registerWebhook(otherReceiver.url)).id);
  await otherReceiver.waitForRequests(1);
  expect(
    (await call<Delivery>('GET', `/v1/deliveries/${secondDelivery.id}`)).body.attempts,
  ).toEqual([]);
  expect(receiver.requests).toHaveLength(1);
  await Promise.all([receiver.close(), otherReceiver.close()]);
});

test('deliveries are claimed and recorded in batches', async () => {
  const receiver = await startReceiver();
  const webhook = await registerWebhook(receiver.url);
  const { database } = runningService.service;
  const { body: firstDelivery } = await sendTestEvent(webhook.id);
  await receiver.waitForRequests(1);
  let statements = 0;
  const count = (text: string): void => {
    if (/deliver/.test(text)) statements += 1;
  };
  const query = vi.spyOn(database, 'query');
  const execute = vi.spyOn(database, 'execute');
  await database.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
      SELECT account_id, 'del_' || n, environment, event_id, webhook_id, 0, now(), now()
      FROM deliveries, generate_series(1, 200) AS n WHERE id = $1`,
    [firstDelivery.id],
  );
  await receiver.waitForRequests(201);
  const countPending = async () =>
    (
      await database.query<{ id: string }>(
        `SELECT id FROM deliveries WHERE webhook_id = $1 AND state = 'pending'`,
        [webhook.id],
      )
    ).length;
  for (const { calls } of [query.mock, execute.mock]) for (const [text] of calls) count(text);
  vi.restoreAllMocks();
  await expect.poll(countPending).toBe(0);
  // Without batching, each of the 200 deliveries would need five statements: to claim it, to read its body, to record
  // the attempt (two) and to commit.
  expect(statements).toBeLessThan(100);
  await receiver.close();
});

test('enabling an endpoint after five days of failures starts a new five-day period', async () => {
  const receiver = await startReceiver(() => 500);
  const webhook = await registerWebhook(receiver.url);
  const path = `/v1/webhooks/${webhook.id}`;
  await runningService.service.database.query(
    `INSERT INTO webhook_failures SELECT account_id, id, now() - interval '5 days', 9 FROM resources WHERE id = $1`,
    [webhook.id],
  );
  const { body: firstDelivery } = await sendTestEvent(webhook.id);
  const waitForAttempt = async (id: string): Promise<void> => {
    let attempts = 0;
    while (attempts === 0)
      attempts = (await call<Delivery>('GET', `/v1/deliveries/${id}`)).body.attempts.length;
  };
  await waitForAttempt(firstDelivery.id);
  let updatedWebhook: Webhook;
  do updatedWebhook = (await call<Webhook>('GET', path)).body;
  while (updatedWebhook.status === 'enabled');
  expect(updatedWebhook.disabled_reason).toBe('failing');
  // Polls, because a process's configuration may be up to half a second stale.
  const readMetrics = async () => (await fetch(`${runningService.url}/metrics`)).text();
  await expect.poll(readMetrics).toContain('trueward_webhooks_disabled 1');

  await call('PATCH', path, { status: 'enabled' });
  const { body: secondDelivery } = await sendTestEvent(webhook.id);
  await waitForAttempt(secondDelivery.id);
  const [row] = await runningService.service.database.query<{ attempts: number }>(
    'SELECT attempts FROM webhook_failures WHERE webhook_id = $1',
    [webhook.id],
  );
  expect(row?.attempts).toBeGreaterThan(9);
  expect((await call<Webhook>('GET', path)).body.status).toBe('enabled');
  await receiver.close();
});
