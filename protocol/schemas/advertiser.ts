import Type from 'typebox';
import { named } from './common.ts';
import { resourceFields } from './resource.ts';

export const categories = Type.Array(Type.String({ pattern: '^[A-Za-z0-9-]{1,32}$' }), {
  maxItems: 50,
  uniqueItems: true,
  default: [],
  description: 'IAB Content Taxonomy ids.',
});

export const advertiserSchema = named('Advertiser', 'The advertiser of a creative.', {
  ...resourceFields('advertiser'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  domain: Type.String({ format: 'hostname', maxLength: 253 }),
  categories,
});
