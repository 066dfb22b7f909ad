import Type from 'typebox';
import { named, strictObject } from './common.ts';

export const usageSchema = named(
  'Usage',
  'What the account stores, in both environments together, and how much it may store.',
  {
    data: Type.Array(
      strictObject({
        kind: Type.String({
          description:
            'What is counted, such as `policies`. The names end in the unit if it is not a number of objects: `media_mb`.',
        }),
        used: Type.Integer({ minimum: 0 }),
        limit: Type.Integer({
          minimum: 0,
          description: 'Creating more than that is answered with `quota_exceeded`.',
        }),
      }),
    ),
  },
);
