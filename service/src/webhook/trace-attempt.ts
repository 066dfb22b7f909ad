import type { Tracing } from '../trace/tracing.ts';
import type { DueDelivery } from './delivery-store.ts';
import type { AttemptResult } from './sender.ts';

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
