import Type from 'typebox';
import { id, named, oneOf, slug, time } from './common.ts';
import { resourceFields, status } from './resource.ts';

export const houseAdSchema = named('HouseAd', 'Runs a creative on placements.', {
  ...resourceFields('houseAd'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  creative_id: id('creative'),
  placements: Type.Array(slug, { minItems: 1, maxItems: 100, uniqueItems: true }),
  priority: Type.Integer({
    minimum: 1,
    maximum: 10,
    default: 5,
    description:
      '1 is the highest. A house ad is considered only if none with a higher priority can be served.',
  }),
  weight: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 1,
    description: 'How often the ad is chosen, relative to other house ads with the same priority.',
  }),
  starts_at: Type.Optional(time('Not served before this time.')),
  ends_at: Type.Optional(time('Not served at or after this time.')),
  daily_cap: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The maximum number of verified impressions per day (UTC).',
    }),
  ),
  status,
  phase: Type.Optional(
    oneOf(
      ['paused', 'scheduled', 'running', 'ended'],
      'What `status`, `starts_at` and `ends_at` mean now. Set by the service.',
    ),
  ),
});
