import Type from 'typebox';
import { named, oneOf } from './common.ts';

export const mistakeNames = [
  'shared_user_ref',
  'new_user_ref_each_time',
  'placement_without_reward',
  'impossible_timing',
  'ads_not_visible',
  'callbacks_missing',
  'rewards_denied',
  'sandbox_key_on_public_site',
  'live_key_on_development_server',
  'rewards_not_taken',
  'rewards_without_receiver',
  'receiver_is_slow',
] as const;

export const mistakeSchema = named(
  'Mistake',
  'A probable mistake in how a game integrates the SDK or the webhooks, found in what the service recorded.',
  {
    name: oneOf(mistakeNames, 'What is wrong, as a stable code.'),
    evidence: Type.String({ description: 'What was seen, with figures.' }),
    remedy: Type.String({ description: 'What to do about it.' }),
    guide: Type.String({ description: 'The section of the documentation that explains it.' }),
  },
);

export const mistakeListSchema = named('MistakeList', 'Probable mistakes, the gravest first.', {
  data: Type.Array(mistakeSchema),
});
