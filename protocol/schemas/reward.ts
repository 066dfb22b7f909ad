import Type from 'typebox';
import { id, line, named, oneOf, ref } from './common.ts';

export const rewardType = line({
  maxLength: 64,
  description: 'A type from your game, such as `coins`.',
});

export const rewardSchema = named('Reward', 'The reward for watching a rewarded ad.', {
  type: rewardType,
  amount: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1e12,
    description: 'How much of the reward the player gets.',
  }),
  credit: Type.Optional(
    oneOf(
      ['webhook', 'wallet'],
      'Who credits the player: your server, when it gets the webhook, or the service, in the player’s wallet. Default: `webhook`.',
    ),
  ),
  duration_s: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      description:
        'For a reward that is credited in the wallet: the player has it for this time, instead of an amount on a balance. Another one extends the time.',
    }),
  ),
  max_active_s: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      description:
        'How far ahead several rewards with a `duration_s` can extend the time. Default: 604800, a week.',
    }),
  ),
});

export const rewardState = oneOf(
  ['none', 'pending', 'earned', 'denied', 'expired'],
  '`none`: not watched yet. `pending`: watched, but not confirmed yet. This is not a failure. `earned`, `denied` and `expired` are final.',
);

export const rewardReason = oneOf(
  [
    'not_rewarded_placement',
    'no_impression',
    'watched_too_little',
    'impossible_timing',
    'overlapping_watch',
    'killed',
    'invalid_traffic',
    'frequency_capped',
    'awaiting_callback',
    'late',
    'simulated',
  ],
  'The reason why a reward is pending, denied or expired.',
);

export const evidence = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'The kind of proof that the ad was watched. `verified`: the SDK showed the ad, and the service verified the impression and the watch time. `source_attested`: the server of the network that showed the ad says so. `client_attested`: only an ad SDK in the player’s page says so. More values may be added.',
});

export const rewardStatusSchema = named('RewardStatus', 'The state of a decision’s reward.', {
  id: id('decision'),
  state: rewardState,
  reason: Type.Optional(rewardReason),
  reward: Type.Optional(ref('Reward')),
  evidence: Type.Optional(evidence),
  receipt: Type.Optional(
    Type.String({
      description:
        'A compact JWS (EdDSA) that proves an earned reward. The public keys are at `/.well-known/jwks.json`.',
    }),
  ),
});
