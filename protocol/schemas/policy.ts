import Type from 'typebox';
import { id, named, oneOf, slug, strictObject } from './common.ts';
import { categories } from './advertiser.ts';
import { mediaFormat } from './creative.ts';
import { resourceFields, status } from './resource.ts';

export const policyKind = oneOf(['policy', 'commercial', 'brand_safety']);

const list = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 500, description }),
  );

export const policySchema = named('Policy', 'A rule that blocks requests or candidates.', {
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
        'ISO 3166-1 alpha-2, such as `DE`. Only known for requests with a publishable key, and only if the operator has set `COUNTRY_HEADER`.',
      ),
      languages: list('BCP 47; `pt` also means `pt-BR`.'),
      devices: Type.Optional(Type.Array(oneOf(['desktop', 'mobile', 'tablet']))),
      child_directed: Type.Optional(Type.Boolean()),
      hours: Type.Optional(
        Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), {
          description: 'Hours of the UTC day.',
        }),
      ),
      segments: list('The request has at least one of these `segments`.'),
    },
    { default: {}, description: 'All of the specified conditions must match.' },
  ),
  block: strictObject(
    {
      everything: Type.Optional(Type.Boolean()),
      advertisers: Type.Optional(Type.Array(id('advertiser'), { maxItems: 500 })),
      sources: Type.Optional(Type.Array(id('source'), { maxItems: 500 })),
      domains: list('Advertiser domains, including their subdomains.'),
      categories: Type.Optional(categories),
      formats: Type.Optional(Type.Array(mediaFormat)),
    },
    { description: 'What the policy blocks; at least one field is required.' },
  ),
  status,
});
