import Type from 'typebox';

/** The id prefix for each kind of object. */
export const idPrefixes = {
  account: 'acc',
  key: 'key',
  placement: 'plc',
  policy: 'pol',
  adRule: 'adr',
  source: 'src',
  advertiser: 'adv',
  houseAd: 'had',
  creative: 'crv',
  killSwitch: 'ksw',
  webhook: 'whk',
  webhookEvent: 'evt',
  delivery: 'del',
  decision: 'dec',
  auditEntry: 'aud',
  user: 'usr',
  job: 'job',
  player: 'ply',
  grant: 'grt',
  transfer: 'trf',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** The form of a time-ordered id: a prefix, an underscore and 26 characters of Crockford base 32. */
export const idPattern = (kind: IdKind): string =>
  `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

/** Creates a schema for a time-ordered id. */
export const id = (kind: IdKind) =>
  Type.String({
    pattern: idPattern(kind),
    description: `An id with the prefix \`${idPrefixes[kind]}_\`.`,
  });

/**
 * Creates a schema for an RFC 3339 timestamp. The service returns timestamps in UTC with millisecond precision. It
 * accepts any UTC offset and years from 2000 to 2100, but no leap seconds.
 */
export const time = (description: string) => Type.String({ format: 'date-time', description });

/**
 * Creates a schema for a string from a fixed list. It states its type, because the validator can compare an array's
 * items in linear time only if it knows that they are strings.
 */
export const oneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Enum([...values], {
    type: 'string',
    ...(description === undefined ? {} : { description }),
  });

/** Creates a schema for an object that rejects unknown fields, so that a misspelled field is an error. */
export const strictObject = <T extends Record<string, Type.TSchema>>(
  properties: T,
  options: Type.TObjectOptions = {},
) => Type.Object(properties, { additionalProperties: false, ...options });

/** A short name for game code and URLs. */
export const slug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$',
  description: 'Up to 64 lowercase letters, digits, hyphens and underscores.',
});

/**
 * Creates a schema for a word or a line that programs compare and people read. It begins and ends with no space, and
 * contains nothing that hides it, breaks the line or turns it around.
 */
export const line = (options: { maxLength: number; description: string }) =>
  Type.String({ minLength: 1, pattern: linePattern, ...options });
const outer = '\\s\\p{Cc}\\p{Cs}\\p{Bidi_Control}';
/** The pattern of a {@link line}. */
export const linePattern = `^[^${outer}\\p{Cf}\\p{Default_Ignorable_Code_Point}](?:[^\\p{Cc}\\p{Cs}\\p{Bidi_Control}\\u2028\\u2029]*[^${outer}])?$`;

export const url = Type.String({ format: 'uri', maxLength: 2048 });

/** The name of an ad SDK in the player's page. */
export const pageAdapter = Type.String({
  pattern: '^(?:google_h5|custom:[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?)$',
  description:
    'An ad SDK in the player’s page: `google_h5`, or `custom:` and the name of your own adapter.',
});

/** Creates a named schema. Its TypeScript type and its OpenAPI component have the same name. */
export const named = <T extends Record<string, Type.TSchema>>(
  name: string,
  description: string,
  properties: T,
) => strictObject(properties, { $id: name, description });

/** Creates a reference to a {@link named} schema. */
export const ref = (name: string) => Type.Ref(`${name}#`);

export const environment = oneOf(
  ['sandbox', 'live'],
  '`sandbox` is for test data, `live` for real ads and rewards.',
);

/** A label beside the key in `actor` or `reviewed_by`. It never replaces the key. */
export const onBehalfOf = line({
  maxLength: 200,
  description: 'The person for whom your server acts, in your own words. With a secret key only.',
});
