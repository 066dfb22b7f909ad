import { schemas } from '@trueward/protocol';

type Schema = Record<string, unknown>;
const byName = new Map((schemas as unknown as Schema[]).map((schema) => [schema['$id'], schema]));

/** A body for a route, and what is wrong with it. */
export interface HostileBody {
  name: string;
  text: string;
}

const resolve = (schema: Schema): Schema =>
  typeof schema['$ref'] === 'string'
    ? (byName.get(schema['$ref'].replace(/^.*\//, '').replace('#', '')) ?? {})
    : schema;

/** Repeats an item until the text is about `bytes` long. */
function fill(bytes: number, item: (index: number) => string): string {
  const items: string[] = [];
  for (let [index, length] = [0, 2]; length < bytes; index += 1) {
    const text = item(index);
    length += Buffer.byteLength(text) + 1;
    if (length < bytes) items.push(text);
  }
  return items.join(',');
}

/** Array items that a validator, a search or a comparison may find expensive. */
const itemKinds: Record<string, (index: number) => string> = {
  'distinct nested arrays': (index) => `[[[${index}]]]`,
  'equal nested arrays': () => '[[[[]]]]',
  'distinct objects': (index) => `{"a":${index}}`,
  'objects with distinct names': (index) => `{"k${index}":1}`,
  'empty objects': () => '{}',
  'empty arrays': () => '[]',
  numbers: (index) => String(index),
  'distinct strings': (index) => `"s${index}"`,
  'equal strings': () => '"video"',
  'pairs of surrogates': () => String.raw`"\ud83d\ude00"`,
  'half pairs of surrogates': () => String.raw`"\ud83d"`,
};

/** Derives bodies of nearly `bytes` bytes from the schema of a route's body. */
export function deriveHostileBodies(bodySchema: object, bytes: number): HostileBody[] {
  const schema = resolve(bodySchema as Schema);
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const room = bytes - 200;
  const bodies: HostileBody[] = [
    { name: 'unknown members', text: `{${fill(room, (index) => `"m${index}":0`)}}` },
    {
      name: 'unknown members with objects',
      text: `{${fill(room, (index) => `"m${index}":{"a":[]}`)}}`,
    },
    { name: 'one member many times', text: `{${fill(room, () => '"a":1')}}` },
    { name: 'one unknown name', text: `{"${'n'.repeat(room)}":1}` },
    { name: 'an unknown name of escapes', text: `{"${String.raw`\u0001`.repeat(room / 6)}":1}` },
    { name: 'prototype members', text: `{${fill(room, (index) => `"__proto__${index % 3}":{}`)}}` },
    { name: 'nested arrays', text: '['.repeat(room / 2) + ']'.repeat(room / 2) },
    { name: 'nested objects', text: '{"a":'.repeat(room / 6) + '1' + '}'.repeat(room / 6) },
    { name: 'open brackets', text: '['.repeat(room) },
    { name: 'an open string of escapes', text: `"${String.raw`\\`.repeat(room / 2)}` },
    { name: 'digits', text: '9'.repeat(room) },
    { name: 'spaces', text: ' '.repeat(room) },
  ];
  for (const [kind, item] of Object.entries(itemKinds)) {
    const list = fill(room, item);
    bodies.push({ name: `a body of ${kind}`, text: `[${list}]` });
    for (const [name, property] of Object.entries(properties))
      for (const path of listArrayPaths(property, [name]))
        bodies.push({ name: `${path.join('.')} of ${kind}`, text: wrap(path, `[${list}]`) });
  }
  for (const [name, property] of Object.entries(properties)) {
    const long = property['type'] === 'string' || property['pattern'] !== undefined;
    if (!long) continue;
    bodies.push({ name: `${name} of letters`, text: `{"${name}":"${'a'.repeat(room)}"}` });
    bodies.push({ name: `${name} of separators`, text: `{"${name}":"${'a-'.repeat(room / 2)}!"}` });
    bodies.push({ name: `${name} of spaces`, text: `{"${name}":"${' '.repeat(room)}"}` });
  }
  return bodies;
}

/** Lists the paths to the arrays in a schema, through objects and alternatives. */
function listArrayPaths(schema: Schema, path: string[]): string[][] {
  const { type, properties, anyOf } = resolve(schema);
  const alternatives = (anyOf ?? []) as Schema[];
  return [
    ...(type === 'array' ? [path] : []),
    ...Object.entries((properties ?? {}) as Record<string, Schema>).flatMap(([name, inner]) =>
      listArrayPaths(inner, [...path, name]),
    ),
    ...alternatives.flatMap((alternative) => listArrayPaths(alternative, path)),
  ];
}

const wrap = (path: readonly string[], json: string): string =>
  path.reduceRight((inner, name) => `{"${name}":${inner}}`, json);
