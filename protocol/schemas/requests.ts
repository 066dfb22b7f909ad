import { adRuleSchema } from './ad-rule.ts';
import { advertiserSchema } from './advertiser.ts';
import { creativeSchema } from './creative.ts';
import { houseAdSchema } from './house-ad.ts';
import { killSwitchSchema } from './kill-switch.ts';
import { placementSchema } from './placement.ts';
import { policySchema } from './policy.ts';
import { requestHeaders, sourceSchema } from './source.ts';

/** The schema of a managed object. */
interface ResourceSchema {
  $id?: string;
  required?: readonly string[];
  properties: Record<string, object>;
}

/** A request schema: an object that rejects unknown fields. */
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

/** Derives the schema for a request that creates an object. Fields with a default are optional. */
function createRequest(
  resource: ResourceSchema,
  omit: string[],
  writeOnly: Record<string, object>,
): RequestSchema {
  const properties = { ...writableFields(resource, omit), ...writeOnly };
  return {
    $id: `${resource.$id}Request`,
    description: `The fields of a new ${resource.$id}.`,
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties).filter(
      (name) => (resource.required ?? []).includes(name) && !hasDefault(properties[name] ?? {}),
    ),
    properties,
  };
}

/**
 * Derives the schema for a request that updates an object. A value replaces the stored value, and `null` removes it.
 */
function updateRequest(
  resource: ResourceSchema,
  omit: string[],
  writeOnly: Record<string, object>,
): RequestSchema {
  const properties = { ...writableFields(resource, omit), ...writeOnly };
  const fields = Object.entries(properties).map(([name, schema]) => {
    const { default: _default, ...valueSchema } = schema as { default?: unknown };
    const isRemovable = !(resource.required ?? []).includes(name);
    return [name, isRemovable ? { anyOf: [valueSchema, { type: 'null' }] } : valueSchema];
  });
  return {
    $id: `${resource.$id}Update`,
    description: `Fields to change in the ${resource.$id}. \`null\` removes a field.`,
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
  /** Fields that are set by the service. */
  readOnly?: string[];
  /** Fields that cannot be changed. */
  immutable?: string[];
  /** Optional fields that exist only in requests. */
  writeOnly?: Record<string, object>;
}

const derivations: Derivation[] = [
  { resource: placementSchema, immutable: ['name', 'format'] },
  {
    resource: sourceSchema,
    immutable: ['kind'],
    readOnly: ['request_header_names', 'callback'],
    writeOnly: { request_headers: requestHeaders },
  },
  { resource: advertiserSchema },
  { resource: creativeSchema, readOnly: ['review', 'source_key', 'origin_url', 'icons'] },
  { resource: houseAdSchema, readOnly: ['phase'] },
  { resource: policySchema },
  { resource: adRuleSchema },
  { resource: killSwitchSchema, immutable: ['scope', 'target_id'], readOnly: ['actor'] },
];

/** `PlacementRequest`, `PlacementUpdate` and so on, for every kind of managed object. */
export const requestSchemas: RequestSchema[] = derivations.flatMap(
  ({ resource, readOnly = [], immutable = [], writeOnly = {} }) => [
    createRequest(resource, readOnly, writeOnly),
    updateRequest(resource, [...readOnly, ...immutable], writeOnly),
  ],
);
