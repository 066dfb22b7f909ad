import Type from 'typebox';
import { id, named, oneOf, slug, strictObject } from './common.ts';
import { categories } from './advertiser.ts';
import { mediaFormat, mediaFormats } from './creative.ts';
import { resourceFields, status } from './resource.ts';

export const policyKind = oneOf(['policy', 'commercial', 'brand_safety']);

const devices = ['desktop', 'mobile', 'tablet'] as const;

const list = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 500, description }),
  );

export const policySchema = named('Policy', 'A rule that blocks ad requests or certain ads.', {
  ...resourceFields('policy'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  kind: policyKind,
  placements: Type.Array(slug, {
    maxItems: 100,
    uniqueItems: true,
    default: [],
    description:
      'The placements to which the policy applies. If empty, it applies to all placements.',
  }),
  when: strictObject(
    {
      countries: list(
        'ISO 3166-1 alpha-2 codes, such as `DE`. The country is known from the setting `COUNTRY_HEADER`, and from `device.country` in requests with a secret key.',
      ),
      languages: list(
        'BCP 47 language tags. `pt` includes `pt-BR`, and `zh-Hant` includes `zh-TW`.',
      ),
      devices: Type.Optional(
        Type.Array(oneOf(devices), {
          maxItems: devices.length,
          description:
            'As the `User-Agent` says. Most iPads say that they are desktops, unless the player or the app asks for mobile pages.',
        }),
      ),
      child_directed: Type.Optional(Type.Boolean()),
      hours: Type.Optional(
        Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), {
          maxItems: 24,
          description: 'Hours of the day, in UTC.',
        }),
      ),
      segments: list('Matches requests that have at least one of these segments.'),
    },
    {
      default: {},
      description:
        'When the policy applies. All specified conditions must match. An empty list is no condition. What is not known of a player, such as the country, matches no list.',
    },
  ),
  block: strictObject(
    {
      everything: Type.Optional(Type.Boolean()),
      advertisers: Type.Optional(Type.Array(id('advertiser'), { maxItems: 500 })),
      sources: Type.Optional(Type.Array(id('source'), { maxItems: 500 })),
      domains: list('Advertiser domains, including their subdomains.'),
      categories: Type.Optional(categories),
      formats: Type.Optional(Type.Array(mediaFormat, { maxItems: mediaFormats.length })),
    },
    { description: 'What the policy blocks. At least one field is required.' },
  ),
  status,
});
