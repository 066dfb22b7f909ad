import type { Schema } from './open-api.ts';

/** Escapes text for a table cell: replaces line breaks and escapes vertical bars. */
export const escapeCell = (text: string): string =>
  text.replaceAll('\n', ' ').replaceAll('|', '\\|');

const formatCode = (value: unknown): string => `\`${String(value)}\``;

/** Returns a schema's anchor. An operation's anchor is its id, which may be the schema's name: `spend`. */
export const getSchemaAnchor = (name: string): string => `schema-${name.toLowerCase()}`;

/** Returns a short description of a schema, with links to the schemas that it refers to. */
export function describeSchema(schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return `[${name}](#${getSchemaAnchor(name)})`;
  if (schema.const !== undefined) return formatCode(schema.const);
  if (schema.enum) return schema.enum.map(formatCode).join(', ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(describeSchema).join(' or ');
  if (schema.items) return `list of ${describeSchema(schema.items)}${describeBounds(schema)}`;
  if (schema.properties)
    return `object with ${Object.keys(schema.properties).map(formatCode).join(', ')}`;
  const type = [schema.type ?? 'anything'].flat().join(' or ');
  return (schema.format ?? type) + describeBounds(schema);
}

function describeBounds(schema: Schema): string {
  const minimum = schema.minimum ?? schema.minItems;
  const maximum = schema.maximum ?? schema.maxItems ?? schema.maxLength;
  if (minimum === undefined && maximum === undefined) return '';
  if (minimum === undefined) return `, at most ${maximum}`;
  return maximum === undefined ? `, at least ${minimum}` : `, ${minimum} to ${maximum}`;
}

/** Returns a table of an object's fields. Required fields are marked. */
export function renderFieldTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const requirement = required.includes(name) ? 'yes' : '';
    const { description = '' } = field;
    return `| ${formatCode(name)} | ${escapeCell(describeSchema(field))} | ${requirement} | ${escapeCell(description)} |`;
  });
  return ['| Field | Value | Required | Meaning |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}
