import type { AuditEntry, Delivery, Webhook } from '@trueward/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../src/program/cli/run-service.ts';
import { type InProcessService, startInProcess } from '../in-process.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Client, createClient } from './client.ts';
import { startReceiver } from './receiver.ts';

const clock = createManualClock(Date.now());
const logLines: string[] = [];
let runningService: InProcessService;
let client: Client;
beforeAll(async () => {
  runningService = await startInProcess(
    { RATE_LIMITS: 'off' },
    { clock, log: createLog('error', { write: (line: string) => void logLines.push(line) }) },
  );
  client = createClient(runningService);
});
afterAll(() => runningService.stop());

const hourMs = 3_600_000;
const { advance } = clock;
const call = <T>(method: string, path: string, body?: unknown) =>
  client.call<T>(method, path, client.secret, body);
const sendTestEvent = async (id: string) =>
  (await call<Delivery>('POST', `/v1/webhooks/${id}/test`, {})).body;
const listDeliveries = async (id: string) =>
  (await call<{ data: Delivery[] }>('GET', `/v1/webhooks/${id}/deliveries`)).body.data;

/** Polls until a value meets the condition. Attempts are recorded only after the receiver has responded. */
async function pollUntil<T>(read: () => Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (isMet(value)) return value;
  }
}
const readWebhook = async (id: string) => (await call<Webhook>('GET', `/v1/webhooks/${id}`)).body;
const waitForProbe = (id: string, deliveryCount: number) =>
  pollUntil(
    () => listDeliveries(id),
    // Deliveries and their attempts are read separately. Therefore, the list can show a new attempt while its delivery
    // still has the previous state.
    ([newest, ...otherDeliveries]) =>
      otherDeliveries.length === deliveryCount - 1 &&
      newest?.attempts.length === 1 &&
      newest.state !== 'pending',
  );

/** Starts a receiver and disables its webhook by simulating five days of failures. */
async function startDisabledReceiver(respond: () => number | Promise<number>) {
  const receiver = await startReceiver(respond);
  const { body } = await call<Webhook>('POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['kill_switch.changed'],
  });
  await sendTestEvent(body.id);
  await pollUntil(
    () => listDeliveries(body.id),
    ([delivery]) => delivery?.attempts.length === 1,
  );
  // Postpones the retry. Otherwise, its failure would disable the webhook before the next event is queued.
  await runningService.service.database.query(
    'UPDATE delivery_queue SET next_at = $2 WHERE webhook_id = $1',
    [body.id, new Date(clock.nowMs() + 30 * 24 * hourMs)],
  );
  advance(5 * 24 * hourMs);
  const missedDelivery = await sendTestEvent(body.id);
  const webhook = await pollUntil(
    () => readWebhook(body.id),
    ({ status }) => status === 'disabled',
  );
  expect(webhook.disabled_reason).toBe('failing');
  return { receiver, id: body.id, missedDelivery, attemptsBefore: receiver.requests.length };
}

test('a webhook disabled by failures is probed hourly until a probe succeeds', async () => {
  let status = 500;
  const { receiver, id, missedDelivery, attemptsBefore } = await startDisabledReceiver(
    () => status,
  );

  advance(hourMs);
  await receiver.waitForRequests(attemptsBefore + 1);
  const [failedProbe] = await waitForProbe(id, 3);
  expect(failedProbe).toMatchObject({ state: 'failed', event_id: missedDelivery.event_id });
  expect((await readWebhook(id)).status).toBe('disabled');

  status = 200;
  advance(hourMs);
  const requests = await receiver.waitForRequests(attemptsBefore + 2);
  expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({ id: missedDelivery.event_id });
  const enabledWebhook = await pollUntil(
    () => readWebhook(id),
    (webhook) => webhook.status === 'enabled',
  );
  expect(enabledWebhook).not.toHaveProperty('disabled_reason');
  expect(enabledWebhook).not.toHaveProperty('disabled_at');
  const { body: audit } = await call<{ data: AuditEntry[] }>(
    'GET',
    `/v1/audit-entries?target_id=${id}`,
  );
  expect(audit.data[0]).toMatchObject({
    action: 'webhook.enabled',
    actor: 'service',
    before: { disabled_reason: 'failing' },
  });
  expect((await waitForProbe(id, 4))[0]?.state).toBe('delivered');

  const newDelivery = await sendTestEvent(id);
  await pollUntil(
    () => listDeliveries(id),
    (deliveries) =>
      deliveries.some(({ id, state }) => id === newDelivery.id && state === 'delivered'),
  );
  await receiver.close();
});

test('a webhook disabled by an operator or a 410 response is not probed', async () => {
  let status = 500;
  const goneWebhook = await startDisabledReceiver(() => status);
  const disabledByOperator = await startDisabledReceiver(() => 500);
  await call('PATCH', `/v1/webhooks/${disabledByOperator.id}`, { status: 'enabled' });
  await call('PATCH', `/v1/webhooks/${disabledByOperator.id}`, { status: 'disabled' });

  status = 410;
  advance(hourMs);
  await pollUntil(
    () => readWebhook(goneWebhook.id),
    ({ disabled_reason }) => disabled_reason === 'gone',
  );
  const deliveriesBefore = (await listDeliveries(goneWebhook.id)).length;

  // The probe to a third endpoint proves that all due probes have been sent.
  const thirdWebhook = await startDisabledReceiver(() => 500);
  advance(hourMs);
  await thirdWebhook.receiver.waitForRequests(thirdWebhook.attemptsBefore + 1);
  await waitForProbe(thirdWebhook.id, 3);
  expect((await listDeliveries(goneWebhook.id)).length).toBe(deliveriesBefore);
  expect((await listDeliveries(disabledByOperator.id)).length).toBe(2);
  await Promise.all(
    [goneWebhook, disabledByOperator, thirdWebhook].map(({ receiver }) => receiver.close()),
  );
});

test('a webhook that an operator disables while it is probed stays disabled', async () => {
  let onProbe: (() => Promise<void>) | undefined;
  const { receiver, id } = await startDisabledReceiver(async () => {
    const disable = onProbe;
    onProbe = undefined;
    await disable?.();
    return disable ? 200 : 500;
  });
  const disabled = new Promise<void>((resolve) => {
    onProbe = async () => {
      for (const status of ['enabled', 'disabled'])
        await call('PATCH', `/v1/webhooks/${id}`, { status });
      resolve();
    };
  });
  advance(hourMs);
  await disabled;
  await pollUntil(
    () => readWebhook(id),
    ({ status }) =>
      status === 'enabled' || logLines.some((line) => line.includes('could not probe a disabled')),
  );
  expect(await readWebhook(id)).toMatchObject({ status: 'disabled', disabled_reason: 'operator' });
  await receiver.close();
});

test('a probe is left to the other processes after 20 seconds, because an attempt takes 10 at most', async () => {
  const leases: unknown[] = [];
  let isProbe = false;
  const { receiver, id, attemptsBefore } = await startDisabledReceiver(async () => {
    if (isProbe)
      leases.push(
        ...(await runningService.service.database.query(
          `SELECT (extract(epoch FROM lease_until - created_at) * 1000)::int AS "leaseMs" FROM delivery_queue
            WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1`,
          [id],
        )),
      );
    return 500;
  });
  isProbe = true;
  advance(hourMs);
  await receiver.waitForRequests(attemptsBefore + 1);
  expect(leases).toEqual([{ leaseMs: 20_000 }]);
  await receiver.close();
});
