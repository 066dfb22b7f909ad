import type { Webhook } from '@trueward/protocol/wire';
import type { Clock } from '../platform/time.ts';
import type { Tracing } from '../trace/tracing.ts';
import type { DueDelivery } from './delivery-store.ts';
import { isDelivered } from './retry-schedule.ts';
import type { AttemptResult, Send } from './sender.ts';

export interface AttemptDeps {
  clock: Clock;
  tracing: Pick<Tracing, 'run'>;
  send: Send;
  /** Converts a stored event body to the body to deliver. */
  openBody(stored: string): string;
  /** Reads the webhook's active signing secrets. */
  readSecrets(accountId: string, webhookId: string): Promise<readonly string[]>;
  /** Whether the service runs in development mode, in which sandbox events may be delivered to loopback IPs. */
  development: boolean;
}

/** Makes an attempt to deliver an event. Never rejects: a failed attempt is a valid result. */
export async function attempt(
  { clock, tracing, send, openBody, readSecrets, development }: AttemptDeps,
  { url }: Webhook,
  delivery: DueDelivery,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const { accountId, environment, webhookId, eventId } = delivery;
  const fail = (error: string): AttemptResult => ({
    startedAtMs: clock.nowMs(),
    latencyMs: 0,
    error,
    notSent: true,
  });
  if (delivery.body === null) return fail('the event could not be read: it no longer exists');
  // If a body or secret can't be decrypted, the attempt fails. If this function threw an exception instead, the attempt
  // would go unrecorded and be repeated forever.
  let body: string;
  try {
    body = openBody(delivery.body);
  } catch {
    return fail('the event could not be read: decryption failed');
  }
  const secrets = await readSecrets(accountId, webhookId).catch(() => undefined);
  if (!secrets) return fail('the webhook secrets could not be read');
  const loopback = development && environment === 'sandbox';
  const request = { url, id: eventId, secrets, loopback, body };
  return traceAttempt(tracing, delivery, (headers) => send({ headers, ...request }, stopping));
}

/**
 * Records an attempt as a span. Passes the trace context to `send` as headers, so that the receiver can continue the
 * trace.
 */
export function traceAttempt(
  tracing: Pick<Tracing, 'run'>,
  { id, eventId, webhookId, environment, attempt }: DueDelivery,
  send: (headers: Readonly<Record<string, string>>) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const attributes = {
    'http.request.method': 'POST',
    'trueward.delivery_id': id,
    'trueward.event_id': eventId,
    'trueward.webhook_id': webhookId,
    'trueward.environment': environment,
    'trueward.attempt': attempt + 1,
  };
  return tracing.run({ name: 'webhook attempt', outgoing: true, attributes }, async (span) => {
    const result = await send(span.headers);
    const { status, error } = result;
    if (status !== undefined) span.setAttributes({ 'http.response.status_code': status });
    if (error !== undefined) span.fail(error);
    else if (!isDelivered(result)) span.fail(`status ${status}`);
    return result;
  });
}
