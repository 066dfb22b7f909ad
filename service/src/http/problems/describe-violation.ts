import { instantRule } from '../../platform/instant.ts';

/**
 * Describes a schema violation in plain words. The validator's messages contain regular expressions and format names.
 */
export function describeViolation(keyword: string, params: Record<string, unknown>): string {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known member';
    case 'enum':
      return `must be one of ${JSON.stringify(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'pattern':
      return describePattern(String(params['pattern']));
    case 'format':
      return formatTexts[String(params['format'])] ?? 'has an invalid format';
    case 'type':
      return `must be ${typeTexts[String(params['type'])] ?? String(params['type'])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must have at least one entry' : `must have at least ${limit} entries`;
    case 'maxItems':
      return `must have at most ${limit} entries`;
    case 'uniqueItems':
      return 'must not contain duplicates';
    case 'minimum':
      return `must be at least ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'minProperties':
      return 'must not be empty';
    case 'maxProperties':
      return `must have at most ${limit} members`;
    default:
      return 'does not match any of the allowed forms';
  }
}

const typeTexts: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

const formatTexts: Readonly<Record<string, string>> = {
  hostname: 'must be a host name such as game.example, without https:// and without a path',
  'date-time': instantRule,
  uri: 'must be an absolute URL such as https://game.example/page',
  'uri-reference': 'must be a URL',
};

const patternTexts: Readonly<Record<string, string>> = {
  '^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$':
    'must be 1 to 64 lowercase letters, digits, hyphens and underscores, starting and ending with a letter or digit',
  '^[A-Za-z0-9-]{1,32}$': 'must be 1 to 32 letters, digits and hyphens, such as IAB1-2',
  '^[a-z]+/[a-z0-9.+-]+(?:; ?codecs="[A-Za-z0-9., -]+")?$':
    'must be a media type such as video/mp4, optionally with codecs',
  '^[\\x20-\\x7e]{1,128}$': 'must be 1 to 128 printable ASCII characters',
  '^[A-Za-z0-9]+([-_.@][A-Za-z0-9]+)*$': 'must be a language tag such as pt-BR',
  '^[A-Za-z0-9_-]{8,64}$': 'must be 8 to 64 letters, digits, hyphens and underscores',
  '^(\\*|https?://[A-Za-z0-9.:\\[\\]-]+)$':
    'must be an origin such as https://game.example, without a path, or * for any origin',
  '^[A-Z]{3}$': 'must be three capital letters, such as USD',
  "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$": 'must be the name of an HTTP header',
  '^[\\x20-\\x7e]{1,4096}$': 'must be 1 to 4,096 printable ASCII characters',
  '^[^\\s,;#]{1,64}$':
    'must be 1 to 64 characters without spaces, commas, semicolons and number signs',
  '^[A-Z]{2}$': 'must be two capital letters, such as DE',
  '\\S': 'must not be empty',
  '^\\s*[^\\s@]+@[^\\s@]+\\s*$': 'must be an e-mail address',
};

const idPattern = /^\^([a-z]{3}_)\[0-7\]/;

function describePattern(pattern: string): string {
  const prefix = idPattern.exec(pattern)?.[1];
  if (prefix !== undefined) return `must be an id that begins with ${prefix}`;
  return patternTexts[pattern] ?? 'has invalid characters or an invalid format';
}
