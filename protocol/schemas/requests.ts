import { advertiserSchema } from './advertiser.ts';
import { creativeSchema } from './creative.ts';
import { houseAdSchema } from './house-ad.ts';
import { killSwitchSchema } from './kill-switch.ts';
import { placementSchema } from './placement.ts';
import { policySchema } from './policy.ts';
import { requestHeaders, sourceSchema } from './source.ts';

/** The part of a managed object’s schema from which requests are derived. */
interface ResourceSchema {
  $id?: string;
  required?: readonly string[];
  properties: Record<string, object>;
}

/** A request schema: an object without unknown fields. */
export interface RequestSchema {
  $id: string;
  description: string;
  type: 'object';
  additionalProperties: false;
  required: string[];
  minProperties?: number;
  properties: Record<string, object>;
}

const setByService = ['id', 'environment', 'created_at', 'updated_at'];
const hasDefault = (schema: object): schema is { default: unknown } => 'default' in schema;

/**
 * Derives the schema of the request that creates an object from the object's fields. Fields with a default are
 * optional.
 */
function createRequest(
  resource: ResourceSchema,
  omit: string[],
  optional: string[],
  writeOnly: Record<string, object>,
): RequestSchema {
  const properties = { ...writableFields(resource, omit), ...writeOnly };
  return {
    $id: `${resource.$id}Request`,
    description: `Creates: ${resource.$id}.`,
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties).filter(
      (name) =>
        (resource.required ?? []).includes(name) &&
        !optional.includes(name) &&
        !hasDefault(properties[name] ?? {}),
    ),
    properties,
  };
}

/** Derives the schema of the request that updates an object. A field replaces the stored one, and `null` removes it. */
function updateRequest(
  resource: ResourceSchema,
  omit: string[],
  writeOnly: Record<string, object>,
): RequestSchema {
  const properties = { ...writableFields(resource, omit), ...writeOnly };
  const fields = Object.entries(properties).map(([name, schema]) => {
    const { default: _default, ...rest } = schema as { default?: unknown };
    const removable = !(resource.required ?? []).includes(name);
    return [name, removable ? { anyOf: [rest, { type: 'null' }] } : rest];
  });
  return {
    $id: `${resource.$id}Update`,
    description: `Changes: ${resource.$id}. A field replaces the stored one; \`null\` removes it.`,
    type: 'object',
    additionalProperties: false,
    required: [],
    minProperties: 1,
    properties: Object.fromEntries(fields) as Record<string, object>,
  };
}

const writableFields = ({ properties }: ResourceSchema, omit: string[]): Record<string, object> =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([name]) => !setByService.includes(name) && !omit.includes(name),
    ),
  );

interface Derivation {
  resource: ResourceSchema;
  /** Fields that only the service sets. */
  readOnly?: string[];
  /** Fields that cannot change, because games and kill switches refer to them. */
  immutable?: string[];
  /** Fields that the service fills in if they are absent. */
  defaulted?: string[];
  /** Optional request fields that the object itself never has. */
  writeOnly?: Record<string, object>;
}

const derivations: Derivation[] = [
  { resource: placementSchema, immutable: ['name', 'format'] },
  {
    resource: sourceSchema,
    immutable: ['kind'],
    readOnly: ['request_header_names'],
    writeOnly: { request_headers: requestHeaders },
  },
  { resource: advertiserSchema },
  { resource: creativeSchema, readOnly: ['review', 'source_key', 'origin_url', 'icons'] },
  { resource: houseAdSchema },
  { resource: policySchema },
  { resource: killSwitchSchema, immutable: ['scope', 'target_id'], defaulted: ['actor'] },
];

/** `PlacementRequest`, `PlacementUpdate` and so on, for every kind of object that operators manage. */
export const requestSchemas: RequestSchema[] = derivations.flatMap(
  ({ resource, readOnly = [], immutable = [], defaulted = [], writeOnly = {} }) => [
    createRequest(resource, readOnly, defaulted, writeOnly),
    updateRequest(resource, [...readOnly, ...immutable], writeOnly),
  ],
);
