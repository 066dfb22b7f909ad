import Type from 'typebox';
import { environment, id, named, oneOf, ref, time } from './common.ts';
import { webhookEventTypes } from './webhook.ts';

export const deliveryState = oneOf(['pending', 'delivered', 'failed']);

export const deliveryAttemptSchema = named(
  'DeliveryAttempt',
  'An HTTP request made for a delivery.',
  {
    attempt: Type.Integer({ minimum: 1 }),
    started_at: time('When the request was sent.'),
    latency_ms: Type.Integer({ minimum: 0 }),
    status: Type.Optional(
      Type.Integer({ description: 'The HTTP status. Absent if there was no response.' }),
    ),
    error: Type.Optional(Type.String({ description: 'Why there was no response.' })),
    response: Type.Optional(Type.String({ description: 'The first KiB of the response.' })),
  },
);

export const deliverySchema = named('Delivery', 'The delivery of an event to a webhook.', {
  id: id('delivery'),
  environment,
  webhook_id: id('webhook'),
  event_id: id('webhookEvent'),
  event_type: oneOf(webhookEventTypes),
  state: deliveryState,
  attempts: Type.Array(ref('DeliveryAttempt')),
  next_attempt_at: Type.Optional(
    time('When the next attempt is due. Present only while the delivery is pending.'),
  ),
  created_at: time('When the delivery was queued.'),
});

export const webhookUpdateSchema = named('WebhookUpdate', 'Changes a webhook.', {
  url: Type.Optional(
    Type.String({ format: 'uri', maxLength: 2_048, description: 'An https URL.' }),
  ),
  events: Type.Optional(
    Type.Array(oneOf(webhookEventTypes), {
      minItems: 1,
      maxItems: webhookEventTypes.length,
      uniqueItems: true,
    }),
  ),
  status: Type.Optional(oneOf(['enabled', 'disabled'])),
});

export const webhookTestSchema = named('WebhookTest', 'Sends a test event.', {
  type: Type.Optional(
    oneOf(webhookEventTypes, 'Default: the first event type to which the webhook subscribes.'),
  ),
});
