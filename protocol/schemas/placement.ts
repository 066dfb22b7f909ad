import Type from 'typebox';
import { named, oneOf, ref, slug } from './common.ts';
import { resourceFields, status } from './resource.ts';

export const placementFormat = oneOf(['rewarded', 'interstitial', 'banner']);

const fields = {
  name: slug,
  format: placementFormat,
  reward: Type.Optional(ref('Reward')),
  frequency_cap: Type.Optional(ref('FrequencyCap')),
  cooldown_s: Type.Integer({
    minimum: 0,
    maximum: 604_800,
    default: 0,
    description: 'Minimum time between two verified impressions for the same player.',
  }),
  min_view_ms: Type.Integer({
    minimum: 1_000,
    maximum: 120_000,
    default: 5_000,
    description: 'How long an image or HTML creative is shown before it counts as watched.',
  }),
  close_after_ms: Type.Integer({
    minimum: 0,
    maximum: 120_000,
    default: 5_000,
    description: 'The latest time at which the close button appears.',
  }),
  late_window_s: Type.Integer({
    minimum: 0,
    maximum: 604_800,
    default: 86_400,
    description: 'How long after the decision an offline completion is still accepted.',
  }),
  identity: Type.Optional(
    oneOf(
      ['none', 'user_token', 'server'],
      'What proves who the player is: nothing, a user token, or a decision requested by the customer’s server. Absent: `none`.',
    ),
  ),
  status,
};

export const frequencyCapSchema = named(
  'FrequencyCap',
  'At most `max` verified impressions per player within `per_s` seconds.',
  {
    max: Type.Integer({ minimum: 1, maximum: 1_000 }),
    per_s: Type.Integer({ minimum: 1, maximum: 2_592_000 }),
  },
);

export const placementSchema = named('Placement', 'A spot in a game where an ad may appear.', {
  ...resourceFields('placement'),
  ...fields,
});
