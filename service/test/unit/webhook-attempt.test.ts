import { expect, test } from 'vitest';
import type { Webhook } from '@trueward/protocol/wire';
import type { Environment } from '../../src/access/principal.ts';
import { noTracing } from '../../src/trace/tracing.ts';
import { attempt, traceAttempt } from '../../src/webhook/attempt.ts';
import type { DueDelivery } from '../../src/webhook/delivery-store.ts';
import type { AttemptResult, DeliveryRequest } from '../../src/webhook/sender.ts';

type Tracing = Parameters<typeof traceAttempt>[0];

const delivery = { id: 'del_1', webhookId: 'wh_1', environment: 'live', attempt: 2 } as DueDelivery;
const times = { startedAtMs: 0, latencyMs: 5 };

test.each<[string, AttemptResult, failures: string[], status: number | undefined]>([
  ['delivered', { ...times, status: 204 }, [], 204],
  ['refused by the receiver', { ...times, status: 500 }, ['status 500'], 500],
  ['redirected', { ...times, status: 302 }, ['status 302'], 302],
  ['not connected', { ...times, error: 'connection refused' }, ['connection refused'], undefined],
  ['cut off', { ...times, status: 200, error: 'too long' }, ['too long'], 200],
])('the span of an attempt that was %s says so', async (_, result, failures, status) => {
  const attributes: Record<string, unknown> = {};
  const messages: string[] = [];
  const tracing: Tracing = {
    run: ({ attributes: first }, work) => {
      Object.assign(attributes, first);
      return work({
        headers: { traceparent: '00-1-2-01' },
        setAttributes: (more) => void Object.assign(attributes, more),
        fail: (message) => void messages.push(message),
      });
    },
  };
  let sent = {};
  const send = async (headers: object) => ((sent = headers), result);
  expect(await traceAttempt(tracing, delivery, send)).toBe(result);
  expect(sent).toEqual({ traceparent: '00-1-2-01' });
  expect(messages).toEqual(failures);
  expect(attributes['http.response.status_code']).toBe(status);
  expect(attributes).toMatchObject({ 'trueward.delivery_id': 'del_1', 'trueward.attempt': 3 });
});

test.each<[isInDevelopment: boolean, Environment, mayReachThisMachine: boolean]>([
  [true, 'sandbox', true],
  [true, 'live', false],
  [false, 'sandbox', false],
  [false, 'live', false],
])(
  'in development: %j, an event of %s may go to this machine: %j',
  async (development, environment, loopback) => {
    const requests: DeliveryRequest[] = [];
    const deps = {
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      tracing: noTracing,
      send: async (request: DeliveryRequest) => {
        requests.push(request);
        return { ...times, status: 204 };
      },
      openBody: (stored: string) => stored,
      readSecrets: async () => ['whsec_AAAA'],
      development,
    };
    const due = { ...delivery, environment, body: '{}' };
    await attempt(deps, { url: 'https://a.example' } as Webhook, due, new AbortController().signal);
    expect(requests).toMatchObject([{ loopback, secrets: ['whsec_AAAA'] }]);
  },
);
