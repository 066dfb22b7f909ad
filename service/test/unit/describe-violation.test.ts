import { schemas } from '@trueward/protocol';
import { expect, test } from 'vitest';
import { describeViolation } from '../../src/http/problems/describe-violation.ts';

/** Returns the values of all members with this name in a schema. */
function collectValues(
  name: 'pattern' | 'format',
  schema: unknown,
  found = new Set<string>(),
): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found;
  for (const [member, value] of Object.entries(schema)) {
    if (member === name && typeof value === 'string') found.add(value);
    collectValues(name, value, found);
  }
  return found;
}

test.each(['pattern', 'format'] as const)(
  'every %s in the contract is described in words, not as a regular expression',
  (name) => {
    const values = [...collectValues(name, schemas)];
    expect(values.length).toBeGreaterThan(2);
    for (const value of values) {
      const description = describeViolation(name, { [name]: value });
      expect(description, value).toMatch(/^must be /);
      expect(description).not.toContain(value);
    }
  },
);
