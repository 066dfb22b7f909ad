import Type from 'typebox';
import { named } from './common.ts';
import { resourceFields } from './resource.ts';

export const categories = Type.Array(Type.String({ pattern: '^[A-Za-z0-9-]{1,32}$' }), {
  maxItems: 50,
  uniqueItems: true,
  default: [],
  description: 'Ids of the IAB Content Taxonomy.',
});

export const advertiserSchema = named('Advertiser', 'Whose ads are shown.', {
  ...resourceFields('advertiser'),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  domain: Type.String({ format: 'hostname', maxLength: 253 }),
  categories,
});
