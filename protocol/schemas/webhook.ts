import Type from 'typebox';
import { id, named, oneOf, time } from './common.ts';
import { resourceFields } from './resource.ts';

export const webhookEventTypes = [
  'decision.served',
  'decision.rewarded',
  'policy.blocked',
  'creative.review_updated',
  'kill_switch.changed',
  'wallet.credited',
  'wallet.spent',
] as const;

const fields = {
  url: Type.String({ format: 'uri', maxLength: 2_048, description: 'An https URL.' }),
  events: Type.Array(oneOf(webhookEventTypes), {
    minItems: 1,
    maxItems: webhookEventTypes.length,
    uniqueItems: true,
  }),
};

export const webhookRequestSchema = named('WebhookRequest', 'Registers a webhook.', fields);

export const webhookSchema = named('Webhook', 'A webhook endpoint and its settings.', {
  ...resourceFields('webhook'),
  ...fields,
  status: oneOf(['enabled', 'disabled']),
  disabled_reason: Type.Optional(
    oneOf(
      ['gone', 'failing', 'operator'],
      'A `failing` webhook is probed once an hour and enabled when it has recovered. Other webhooks stay disabled.',
    ),
  ),
  disabled_at: Type.Optional(time('When the webhook was disabled.')),
  missed_since: Type.Optional(
    time(
      'From when the enabled webhook missed events while it was disabled. Absent once they have been sent again.',
    ),
  ),
  secret: Type.Optional(
    Type.String({ description: 'The webhook secret. Returned only on creation and rotation.' }),
  ),
});

export const webhookHealthSchema = named(
  'WebhookHealth',
  'Whether a webhook receives what is sent to it.',
  {
    webhook_id: id('webhook'),
    state: oneOf(
      ['healthy', 'failing', 'disabled'],
      'A webhook is `failing` while its latest attempt has failed, and `healthy` before its first attempt.',
    ),
    failing_since: Type.Optional(time('When the first of the consecutive failures happened.')),
    failed_attempts: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The number of consecutive failures.' }),
    ),
    last_failure: Type.Optional(
      Type.String({ description: 'Why a recent attempt failed: a status or an error.' }),
    ),
    disables_at: Type.Optional(time('When the webhook will be disabled if it keeps failing.')),
    queued: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'How many deliveries wait. At most 10,000 are counted.',
    }),
    next_attempt_at: Type.Optional(time('When the next of these is due.')),
  },
);

export const webhookHealthListSchema = named(
  'WebhookHealthList',
  'The health of all webhooks of an environment.',
  { data: Type.Array(webhookHealthSchema) },
);
