import type { Schema } from './open-api.ts';

/** A table’s cell: no line breaks, and no bars that would end it. */
export const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|');

const code = (value: unknown): string => `\`${String(value)}\``;

/** What a schema allows, in a few words, with links to the schemas that it names. */
export function describeSchema(schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`;
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(', ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(describeSchema).join(' or ');
  if (schema.items) return `list of ${describeSchema(schema.items)}${bounds(schema)}`;
  if (schema.properties) return `object of ${Object.keys(schema.properties).map(code).join(', ')}`;
  const type = [schema.type ?? 'anything'].flat().join(' or ');
  return (schema.format ?? type) + bounds(schema);
}

function bounds(schema: Schema): string {
  const least = schema.minimum ?? schema.minItems;
  const most = schema.maximum ?? schema.maxItems ?? schema.maxLength;
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return `, at most ${most}`;
  return most === undefined ? `, at least ${least}` : `, ${least} to ${most}`;
}

/** The members of an object as rows; those that must be there are marked. */
export function memberTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, member]) => {
    const need = required.includes(name) ? 'yes' : '';
    const { description = '' } = member;
    return `| ${code(name)} | ${cell(describeSchema(member))} | ${need} | ${cell(description)} |`;
  });
  return ['| Member | Value | Required | Meaning |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}
