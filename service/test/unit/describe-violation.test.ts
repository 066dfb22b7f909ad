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
