import Type from 'typebox';
import { environment, id, named, oneOf, strictObject, time } from './common.ts';

const kind = oneOf(['publishable', 'secret']);

const allowedOrigins = Type.Array(
  Type.String({ pattern: '^(\\*|https?://[A-Za-z0-9.:\\[\\]-]+)$', maxLength: 260 }),
  {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Origins that may use a publishable key. `*` means any origin.',
  },
);

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'What the key is for, such as `Game server`.',
});

const rateLimit = strictObject(
  {
    per_s: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests per second.' }),
    burst: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum burst size, in requests.',
    }),
  },
  { description: 'The key’s own rate limit. Default: the service’s configured rate limit.' },
);

export const apiKeySchema = named(
  'ApiKey',
  'An API key. Of a secret key, the service stores only a hash.',
  {
    id: id('key'),
    environment,
    kind,
    name: Type.Optional(name),
    last_four: Type.String({ description: 'The last four characters of the key.' }),
    allowed_origins: Type.Array(Type.String()),
    rate_limit: Type.Optional(rateLimit),
    created_at: time('When the key was created.'),
    last_used_at: Type.Optional(time('When the key was last used. Lags by up to ten seconds.')),
    revoked_at: Type.Optional(time('When the key becomes invalid. May be in the future.')),
    leaked_at: Type.Optional(
      time(
        'When a web page last used this secret key. If present, the key has been exposed: rotate it.',
      ),
    ),
    leaked_to: Type.Optional(Type.String({ description: 'The page’s origin.' })),
    key: Type.Optional(
      Type.String({
        description:
          'The full key. That of a secret key is returned only on creation, and not when it is replayed.',
      }),
    ),
  },
);

export const apiKeyRequestSchema = named(
  'ApiKeyRequest',
  'Creates a key in the same environment.',
  {
    kind,
    name: Type.Optional(name),
    allowed_origins: Type.Optional(allowedOrigins),
    rate_limit: Type.Optional(rateLimit),
  },
);

export const apiKeyUpdateSchema = named(
  'ApiKeyUpdate',
  'Changes a key’s name, allowed origins and rate limit.',
  {
    name: Type.Optional(name),
    allowed_origins: Type.Optional(allowedOrigins),
    rate_limit: Type.Optional(
      Type.Union([rateLimit, Type.Null()], {
        description: '`null` restores the service’s default.',
      }),
    ),
  },
);

export const overlapRequestSchema = named(
  'OverlapRequest',
  'How long the old key or secret stays valid.',
  {
    overlap_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_592_000,
        description:
          'In seconds. 0 revokes the old key or secret immediately. Default: a day, or 0 for a key that has leaked.',
      }),
    ),
  },
);
