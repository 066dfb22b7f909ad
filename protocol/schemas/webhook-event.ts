import Type from 'typebox';
import { environment, id, named, oneOf, ref, slug, strictObject, time } from './common.ts';
import { reviewStatus } from './creative.ts';
import { userRef } from './decision.ts';
import { killSwitchScope } from './kill-switch.ts';
import { policyKind } from './policy.ts';
import { evidence, rewardType } from './reward.ts';
import { balance, version } from './wallet.ts';

const event = (name: string, description: string, type: string, data: Type.TSchema) =>
  named(name, description, {
    id: id('webhookEvent'),
    type: Type.Literal(type),
    created_at: time('When the event was created.'),
    environment,
    data,
  });

export const decisionServedEventSchema = event(
  'DecisionServedEvent',
  'An impression has been verified.',
  'decision.served',
  strictObject({
    decision_id: id('decision'),
    placement: slug,
    creative_id: id('creative'),
    advertiser_id: id('advertiser'),
    source_id: id('source'),
    user_ref: Type.Optional(userRef),
    viewable: Type.Boolean(),
  }),
);

export const decisionRewardedEventSchema = event(
  'DecisionRewardedEvent',
  'A player completed a rewarded ad and earned the reward.',
  'decision.rewarded',
  strictObject({
    decision_id: id('decision'),
    placement: slug,
    user_ref: userRef,
    reward: ref('Reward'),
    evidence: Type.Optional(evidence),
    custom_data: Type.Optional(Type.String({ maxLength: 1_024 })),
  }),
);

export const policyBlockedEventSchema = event(
  'PolicyBlockedEvent',
  'An ad request was blocked by a policy, a commercial rule or a brand safety rule.',
  'policy.blocked',
  strictObject({
    decision_id: id('decision'),
    placement: slug,
    rule: strictObject({ id: id('policy'), kind: policyKind, name: Type.String() }),
    user_ref: Type.Optional(userRef),
  }),
);

export const creativeReviewUpdatedEventSchema = event(
  'CreativeReviewUpdatedEvent',
  'The review status of a creative has changed.',
  'creative.review_updated',
  strictObject({
    creative_id: id('creative'),
    previous: reviewStatus,
    current: reviewStatus,
    reason_code: Type.Optional(Type.String()),
    feedback: Type.Optional(Type.String()),
  }),
);

export const killSwitchChangedEventSchema = event(
  'KillSwitchChangedEvent',
  'A kill switch has been turned on or off.',
  'kill_switch.changed',
  strictObject({
    kill_switch_id: id('killSwitch'),
    scope: killSwitchScope,
    target_id: Type.String(),
    state: oneOf(['on', 'off']),
    reason: Type.Optional(Type.String()),
    actor: Type.String(),
  }),
);

const change = {
  entry_id: Type.String({
    description: 'The id of the entry, which is unique for the player: see `WalletEntry`.',
  }),
  user_ref: userRef,
  type: rewardType,
  reason: Type.Optional(Type.String()),
  balance,
  version,
};

export const walletCreditedEventSchema = event(
  'WalletCreditedEvent',
  'A player’s wallet was credited. Has an `amount`, a `duration_s`, or both.',
  'wallet.credited',
  strictObject({
    ...change,
    kind: oneOf(['reward', 'grant', 'transfer']),
    amount: Type.Optional(Type.Integer({ minimum: 0 })),
    duration_s: Type.Optional(Type.Integer({ minimum: 0 })),
    from_user_ref: Type.Optional({
      ...userRef,
      description: 'For a transfer: the guest player whose wallet was moved.',
    }),
  }),
);

export const walletSpentEventSchema = event(
  'WalletSpentEvent',
  'A player has spent from a balance.',
  'wallet.spent',
  strictObject({ ...change, amount: Type.Integer({ minimum: 1 }) }),
);

export const webhookEventSchema = Type.Union(
  [
    ref('DecisionServedEvent'),
    ref('DecisionRewardedEvent'),
    ref('PolicyBlockedEvent'),
    ref('CreativeReviewUpdatedEvent'),
    ref('KillSwitchChangedEvent'),
    ref('WalletCreditedEvent'),
    ref('WalletSpentEvent'),
  ],
  { $id: 'WebhookEvent', description: 'The body of a webhook request.' },
);
