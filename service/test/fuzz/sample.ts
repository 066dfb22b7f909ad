/** A JSON Schema in the OpenAPI document. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  minProperties?: number;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  pattern?: string;
  format?: string;
  default?: unknown;
}

/** Generates valid values for schemas. */
export interface Sampler {
  /** `random` selects the optional members and the values. Without it, returns the smallest valid value. */
  sample(schema: Schema, random?: () => number): unknown;
  resolve(schema: Schema): Schema;
}

/** Each pattern in the contract must match one of these examples. Otherwise, the sampler throws an error. */
const examples = [
  'DE',
  'lobby',
  'event-00000001',
  'image/png',
  'player-1',
  'https://game.example',
  'USD',
  'google_h5',
  '1',
];
const formats: Record<string, string> = {
  uri: 'https://example.com/a',
  'uri-reference': 'https://example.com/a',
  hostname: 'example.com',
  'date-time': '2026-01-01T00:00:00.000Z',
};

export function createSampler(components: Record<string, Schema>): Sampler {
  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.split('/').at(-1);
    const resolvedSchema = name === undefined ? schema : components[name];
    if (!resolvedSchema) throw new Error(`The OpenAPI document has no schema ${schema.$ref}.`);
    return resolvedSchema;
  };
  const sampleText = ({ pattern, format }: Schema): string => {
    if (format !== undefined) return formats[format] ?? 'text';
    if (pattern === undefined) return 'text';
    const prefix = /^\^([a-z]{3})_\[0-7\]/.exec(pattern)?.[1];
    if (prefix !== undefined) return `${prefix}_01h455vb4pex5vsknk084sn02q`;
    const regex = new RegExp(pattern, 'u');
    const example = examples.find((text) => regex.test(text));
    if (example === undefined) throw new Error(`No example matches the pattern ${pattern}.`);
    return example;
  };
  const sample = (input: Schema, random?: () => number): unknown => {
    const schema = resolve(input);
    const pick = <T>(list: T[]): T => list[Math.floor((random?.() ?? 0) * list.length)] as T;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(schema.enum);
    if (schema.anyOf) return sample(pick(schema.anyOf), random);
    switch (schema.type) {
      case 'object':
        return sampleObject(schema, random);
      case 'array': {
        const length = Math.max(schema.minItems ?? 0, Math.floor((random?.() ?? 0) * 3));
        return Array.from({ length }, () => sample(schema.items ?? {}, random));
      }
      case 'integer':
      case 'number': {
        const lowerBound = schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
        const upperBound = Math.min(schema.maximum ?? lowerBound + 1_000, lowerBound + 100_000);
        return lowerBound + Math.floor((random?.() ?? 0) * (upperBound - lowerBound + 1));
      }
      case 'boolean':
        return (random?.() ?? 0) < 0.5;
      case 'null':
        return null;
      default:
        return sampleText(schema);
    }
  };
  const sampleObject = (schema: Schema, random?: () => number): object => {
    const { properties = {}, required = [], minProperties = 0 } = schema;
    const optionalNames = Object.keys(properties).filter((name) => !required.includes(name));
    const chosenNames = random ? optionalNames.filter(() => random() < 0.4) : [];
    const names = [...required, ...chosenNames];
    const lastOptionalName = optionalNames.at(-1);
    if (names.length < minProperties && lastOptionalName !== undefined)
      names.push(lastOptionalName);
    return Object.fromEntries(names.map((name) => [name, sample(properties[name] ?? {}, random)]));
  };
  return { sample, resolve };
}
