import { schemas } from '@trueward/protocol';
import { expect, test } from 'vitest';

type Schema = Record<string, unknown>;

const byName = new Map((schemas as unknown as Schema[]).map((schema) => [schema['$id'], schema]));
const isRequest = (name: unknown): boolean =>
  /(?:Request|Update|Batch|Test)$/.test(String(name)) && name !== undefined;

/** Lists every array in a schema, including referenced schemas, with its path. */
function listArrays(schema: unknown, path: string, seen = new Set<unknown>()): [string, Schema][] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, type, items } = schema as Schema;
  const referenced = typeof $ref === 'string' ? byName.get($ref.replace('#', '')) : undefined;
  return [
    ...(type === 'array' || items !== undefined
      ? [[path, schema as Schema] as [string, Schema]]
      : []),
    ...listArrays(referenced, `${path}→${String($ref)}`, seen),
    ...Object.entries(schema).flatMap(([name, inner]) =>
      listArrays(inner, `${path}/${name}`, seen),
    ),
  ];
}

const primitives = ['string', 'integer', 'number', 'boolean'];

test('every array in a request has a type and a bound, and only primitive items must be unique', () => {
  const requests = [...byName].filter(([name]) => isRequest(name));
  const arrays = requests.flatMap(([name, schema]) => listArrays(schema, String(name)));
  expect(requests.length).toBeGreaterThan(20);
  expect(arrays.length).toBeGreaterThan(30);
  for (const [path, { type, maxItems, uniqueItems, items }] of arrays) {
    expect.soft([path, type, typeof maxItems]).toEqual([path, 'array', 'number']);
    const { type: itemType, $ref } = items as Schema;
    expect.soft([path, itemType ?? $ref]).not.toEqual([path, undefined]);
    // The validator compares other items pairwise.
    if (uniqueItems === true) expect.soft(primitives, path).toContain(itemType);
  }
});

test('every text in a request has a bound or a pattern that bounds it', () => {
  const unbounded: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, maxLength, pattern, format, enum: values, const: value } = schema as Schema;
    const isBounded =
      [maxLength, pattern, values, value].some((bound) => bound !== undefined) ||
      format === 'date-time';
    if (type === 'string' && !isBounded) unbounded.push(path);
    for (const [name, inner] of Object.entries(schema)) visit(inner, `${path}/${name}`);
  };
  for (const [name, schema] of byName) if (isRequest(name)) visit(schema, String(name));
  expect(unbounded).toEqual([]);
});
