import { schemas } from '@trueward/protocol';
import { expect, test } from 'vitest';
import { describeViolation } from '../../src/http/problem.ts';

/** Collects the values of all members with this name, at any depth in a schema. */
function collectValues(
  name: 'pattern' | 'format',
  schema: unknown,
  foundValues = new Set<string>(),
): Set<string> {
  if (typeof schema !== 'object' || schema === null) return foundValues;
  for (const [member, value] of Object.entries(schema)) {
    if (member === name && typeof value === 'string') foundValues.add(value);
    collectValues(name, value, foundValues);
  }
  return foundValues;
}

test.each(['pattern', 'format'] as const)(
  'the message for every %s in the contract describes it in plain English',
  (name) => {
    const values = [...collectValues(name, schemas)];
    expect(values.length).toBeGreaterThan(2);
    for (const value of values) {
      const description = describeViolation(name, { [name]: value });
      expect(description, value).toMatch(/^must (not )?be /);
      expect(description).not.toContain(value);
    }
  },
);

/** What the validator says about a value, and what a person reads. */
const violations: [string, Record<string, unknown>, string][] = [
  ['required', {}, 'is required'],
  ['additionalProperties', {}, 'is not a known member'],
  ['enum', { allowedValues: ['on', 'off'] }, 'must be one of ["on","off"]'],
  ['const', { allowedValue: 'on' }, 'must be "on"'],
  ['pattern', { pattern: '^[A-Z]{2}$' }, 'must be two capital letters, such as DE'],
  ['pattern', { pattern: '^src_[0-7]' }, 'must be an id that begins with src_'],
  ['pattern', { pattern: '^unknown$' }, 'has invalid characters or an invalid format'],
  ['format', { format: 'uri-reference' }, 'must be a URL'],
  ['format', { format: 'unknown' }, 'has an invalid format'],
  ['type', { type: 'integer' }, 'must be a whole number'],
  ['type', { type: 'unknown' }, 'must be unknown'],
  ['minLength', { limit: 1 }, 'must not be empty'],
  ['minLength', { limit: 8 }, 'must have at least 8 characters'],
  ['maxLength', { limit: 8 }, 'must have at most 8 characters'],
  ['minItems', { limit: 1 }, 'must have at least one entry'],
  ['minItems', { limit: 8 }, 'must have at least 8 entries'],
  ['maxItems', { limit: 8 }, 'must have at most 8 entries'],
  ['uniqueItems', {}, 'must not contain duplicates'],
  ['minimum', { limit: 0 }, 'must be at least 0'],
  ['exclusiveMinimum', { limit: 0 }, 'must be more than 0'],
  ['maximum', { limit: 8 }, 'must be at most 8'],
  ['exclusiveMaximum', { limit: 8 }, 'must be less than 8'],
  ['minProperties', { limit: 1 }, 'must not be empty'],
  ['maxProperties', { limit: 8 }, 'must have at most 8 members'],
  ['oneOf', {}, 'does not match any of the allowed forms'],
];

test.each(violations)('a violation of %s (%o) is described: %s', (keyword, params, text) => {
  expect(describeViolation(keyword, params)).toBe(text);
});
