import Type from 'typebox';
import { environment, id, named, oneOf, ref, time } from './common.ts';
import { webhookEventTypes } from './webhook.ts';

export const deliveryState = oneOf(['pending', 'delivered', 'failed']);

export const deliveryAttemptSchema = named('DeliveryAttempt', 'One request to a receiver.', {
  attempt: Type.Integer({ minimum: 1 }),
  started_at: time('When it was sent.'),
  latency_ms: Type.Integer({ minimum: 0 }),
  status: Type.Optional(Type.Integer({ description: 'HTTP status; absent: no answer.' })),
  error: Type.Optional(Type.String({ description: 'Why there was no answer.' })),
  response: Type.Optional(Type.String({ description: 'The first KiB of the answer.' })),
});

export const deliverySchema = named('Delivery', 'One event on its way to one webhook.', {
  id: id('delivery'),
  environment,
  webhook_id: id('webhook'),
  event_id: id('webhookEvent'),
  event_type: oneOf(webhookEventTypes),
  state: deliveryState,
  attempts: Type.Array(ref('DeliveryAttempt')),
  next_attempt_at: Type.Optional(time('While it is pending.')),
  created_at: time('When it was queued.'),
});

export const webhookUpdateSchema = named('WebhookUpdate', 'Changes a webhook.', {
  url: Type.Optional(Type.String({ format: 'uri', maxLength: 2_048, description: 'HTTPS.' })),
  events: Type.Optional(
    Type.Array(oneOf(webhookEventTypes), {
      minItems: 1,
      maxItems: webhookEventTypes.length,
      uniqueItems: true,
    }),
  ),
  status: Type.Optional(oneOf(['enabled', 'disabled'])),
});

export const webhookTestSchema = named('WebhookTest', 'Sends a made-up event.', {
  type: Type.Optional(
    oneOf(webhookEventTypes, 'Absent: the first that the webhook subscribes to.'),
  ),
});

export const recoveryResultSchema = named('RecoveryResult', 'What was queued again.', {
  queued: Type.Integer({ minimum: 0 }),
});
