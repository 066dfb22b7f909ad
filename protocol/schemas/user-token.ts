import Type from 'typebox';
import { environment, named } from './common.ts';

export const userTokenSecretRequestSchema = named(
  'UserTokenSecretRequest',
  'Creates a user token secret.',
  {
    overlap_s: Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      description: 'How long older secrets stay valid, in seconds.',
    }),
  },
);

export const userTokenSecretSchema = named(
  'UserTokenSecret',
  'The secret with which your server signs user tokens (HS256). The entire string is the key.',
  {
    secret: Type.Optional(
      Type.String({
        description:
          '`utk_<environment>_…`. Returned only on creation, and not when it is replayed.',
      }),
    ),
    environment,
  },
);
