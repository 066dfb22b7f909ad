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
    description:
      'The minimum time between two verified impressions for the same player. Counts by `user_ref`: players without one are limited by ad rules only.',
  }),
  min_view_ms: Type.Integer({
    minimum: 1_000,
    maximum: 120_000,
    default: 5_000,
    description: 'How long an image or HTML creative must be shown to count as watched.',
  }),
  close_after_ms: Type.Integer({
    minimum: 0,
    maximum: 120_000,
    default: 5_000,
    description: 'The maximum time until the close button appears.',
  }),
  late_window_s: Type.Integer({
    minimum: 0,
    maximum: 604_800,
    default: 86_400,
    description: 'How long after the decision a completion is accepted.',
  }),
  page_rewards: Type.Optional(
    oneOf(
      ['none', 'client_attested', 'source_attested'],
      'Which evidence suffices for the reward of a view that an ad SDK in the page has shown. `none`: none, and `page` sources don’t fill a rewarded placement. `client_attested`: the ad SDK says so. `source_attested`: the network’s server says so, and only sources with a `callback` fill the placement. `page_reward_cap` limits all of them (default: 5 times a day). Default: `none`.',
    ),
  ),
  page_reward_cap: Type.Optional(ref('FrequencyCap')),
  identity: Type.Optional(
    oneOf(
      ['none', 'user_token', 'server'],
      'How the player’s identity is proven: not at all, with a user token, or with an ad request from your server. Default: `none`.',
    ),
  ),
  status,
};

export const frequencyCapSchema = named(
  'FrequencyCap',
  'The maximum number of verified impressions per player within `per_s` seconds. Counts by `user_ref`: players without one are limited by ad rules only.',
  {
    max: Type.Integer({ minimum: 1, maximum: 1_000 }),
    per_s: Type.Integer({ minimum: 1, maximum: 2_592_000 }),
  },
);

export const placementSchema = named('Placement', 'A spot in a game where an ad may appear.', {
  ...resourceFields('placement'),
  ...fields,
});
