import type { OpenApi, Operation, Schema } from './open-api.ts';
import { cell, describeSchema, memberTable } from './schema-text.ts';

const introduction = `# HTTP reference

This page lists all operations and schemas of the service. It is generated from the OpenAPI document that a running service
serves at \`/openapi.json\`. [HTTP API](../api.md) describes the conventions that apply to all operations.

`;

/** Generates the page with all operations and schemas. */
export function httpPage({ paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    schemaText(name, schema),
  );
  return `${introduction}## Operations\n\n${operations.join('\n')}\n## Schemas\n\n${schemas.join('\n')}`;
}

function operationText(method: string, path: string, operation: Operation): string {
  const keys = (operation.security ?? []).flatMap((each) => Object.keys(each));
  const kinds = keys.map((key) => (key === 'publishableKey' ? 'publishable' : 'secret'));
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const facts = [
    `Key: ${kinds.length === 0 ? 'none' : kinds.join(' or ')}.`,
    ...(body ? [`Body: ${describeSchema(body)}.`] : []),
    ...responseFacts(operation),
  ];
  return `### ${method.toUpperCase()} \`${path}\` {#${operation.operationId}}

${[operation.summary, operation.description].filter(Boolean).join('. ').replace(/\.$/, '')}.

${facts.map((fact) => `- ${fact}`).join('\n')}
${parameterTable(operation)}`;
}

const responseFacts = ({ responses }: Operation): string[] =>
  Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, { description, content = {} }]) => {
      const shapes = Object.values(content).map(({ schema }) => describeSchema(schema));
      return `Response ${status}: ${description}${shapes.length === 0 ? '' : ` ${shapes.join(' or ')}.`}`;
    });

function parameterTable({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: where, required, schema, description = '' }) =>
      `| \`${name}\` | ${where}${required ? ', required' : ''} | ${cell(describeSchema(schema))} | ${cell(description)} |`,
  );
  return `\n| Parameter | In | Value | Meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function schemaText(name: string, schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf ?? [schema];
  const shapes = choices.map((choice) =>
    choice.properties ? memberTable(choice) : describeSchema(choice),
  );
  return `### ${name} {#${name.toLowerCase()}}\n\n${schema.description ?? ''}\n\n${shapes.join('\n\nor\n\n')}\n`;
}
