import type { Webhook } from '@trueward/protocol/wire';
import type { Clock } from '../platform/clock.ts';
import type { Tracing } from '../trace/tracing.ts';
import type { DueDelivery } from './delivery-store.ts';
import type { AttemptResult, Send } from './sender.ts';

export interface AttemptParts {
  clock: Clock;
  tracing: Pick<Tracing, 'run'>;
  send: Send;
  /** The body of an event as it is delivered. */
  openBody(stored: string): string;
  /** The secrets that sign for a webhook now. */
  readSecrets(accountId: string, webhookId: string): Promise<readonly string[]>;
  /** Whether the service runs for development: the sandbox may then deliver to this machine. */
  development: boolean;
}

/** An attempt takes 10 s at most; after this its process is taken to be gone. */
export const leaseMs = 20_000;

/** Sends the event of a delivery to its webhook, once. */
export async function attempt(
  { clock, tracing, send, openBody, readSecrets, development }: AttemptParts,
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
  // What cannot be decrypted is a failed attempt too: without a record it would be claimed again for ever.
  const body = tryTo(() => (delivery.body === null ? undefined : openBody(delivery.body)));
  if (body === undefined) return fail('the event could not be read');
  const secrets = await readSecrets(accountId, webhookId).catch(() => undefined);
  if (!secrets) return fail('the secrets of the webhook could not be read');
  const loopback = development && environment === 'sandbox';
  const parcel = { url, id: eventId, secrets, loopback, body };
  return traceAttempt(tracing, delivery, (headers) => send({ ...parcel, headers }, stopping));
}

function tryTo<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Anything but 2xx has failed. */
export const hasArrived = ({ status }: AttemptResult): boolean =>
  status !== undefined && status >= 200 && status < 300;

/** An attempt as a span, with which the receiver can go on by the headers. */
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
    else if (status === undefined || status < 200 || status >= 300) span.fail(`status ${status}`);
    return result;
  });
}
