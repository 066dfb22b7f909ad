import Type from 'typebox';
import { id, named, oneOf, ref, strictObject, time } from './common.ts';

export const adEventType = oneOf([
  'impression',
  'viewable',
  'start',
  'first_quartile',
  'midpoint',
  'third_quartile',
  'complete',
  'click',
  'skip',
  'close',
  'error',
]);

export const adEventSchema = named('AdEvent', 'One thing that happened to a shown ad.', {
  id: Type.String({
    pattern: '^[A-Za-z0-9_-]{8,64}$',
    description: 'Made by the client when it happened; the same id twice counts once.',
  }),
  type: adEventType,
  decision_id: id('decision'),
  token: Type.String({ minLength: 1, maxLength: 4_096 }),
  occurred_at: time('By the client’s clock.'),
  watched_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      description: 'Time that the ad was playing in a visible page so far.',
    }),
  ),
  visible: Type.Optional(
    strictObject(
      {
        ratio: Type.Number({ minimum: 0, maximum: 1 }),
        ms: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
      },
      { description: 'Share of its pixels on screen, and for how long without a break.' },
    ),
  ),
  detail: Type.Optional(Type.String({ maxLength: 256 })),
});

export const eventBatchSchema = named('EventBatch', 'Events of one device.', {
  sent_at: time(
    'By the client’s clock, when the request was made: the service corrects skew by it.',
  ),
  events: Type.Array(ref('AdEvent'), { minItems: 1, maxItems: 500 }),
  dropped: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
        maxProperties: 16,
        description: 'Events that the device gave up since its last report, by reason.',
      },
    ),
  ),
});

export const rejectionCode = oneOf([
  'invalid_event',
  'token_invalid',
  'environment_mismatch',
  'decision_mismatch',
  'expired',
  'late',
  'killed',
  'invalid_traffic',
]);

export const eventResultSchema = named('EventResult', 'What became of one event.', {
  id: Type.String(),
  status: oneOf(['accepted', 'duplicate', 'rejected']),
  code: Type.Optional(rejectionCode),
});

export const eventBatchResultSchema = named(
  'EventBatchResult',
  'One result per event, so that one bad event never blocks the others.',
  {
    results: Type.Array(ref('EventResult')),
    decisions: Type.Array(ref('RewardStatus'), {
      description: 'The reward of every decision that the batch touched.',
    }),
  },
);
