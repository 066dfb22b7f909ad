import Type from 'typebox';
import { environment, named } from './common.ts';

export const userTokenSecretRequestSchema = named(
  'UserTokenSecretRequest',
  'Makes a new secret for user tokens.',
  {
    overlap_s: Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      description: 'How long older secrets still verify.',
    }),
  },
);

export const userTokenSecretSchema = named(
  'UserTokenSecret',
  'What the customer’s server signs user tokens with (HS256; the whole text is the key).',
  {
    secret: Type.String({ description: '`utk_<environment>_…`, shown this once.' }),
    environment,
  },
);
