import type { OpenApi, Operation, Schema } from './open-api.ts';
import { describeSchema, escapeCell, getSchemaAnchor, renderFieldTable } from './schema-text.ts';

const introduction = `# HTTP reference

This page lists all of the service's operations and schemas. It is generated from the OpenAPI document that a running service
serves at \`/openapi.json\`. [HTTP API](../api.md) describes the conventions that apply to all operations.

`;

/** Generates the page that documents all operations and schemas. */
export function renderHttpPage({ paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    renderSchema(name, schema),
  );
  return `${introduction}## Operations\n\n${operations.join('\n')}\n## Schemas\n\n${schemas.join('\n')}`;
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const keys = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
  const keyKinds = keys.map((key) => (key === 'publishableKey' ? 'publishable' : 'secret'));
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const details = [
    `Key: ${keyKinds.length === 0 ? 'none' : keyKinds.join(' or ')}.`,
    ...(body ? [`Body: ${describeSchema(body)}.`] : []),
    ...describeResponses(operation),
  ];
  return `### ${method.toUpperCase()} \`${path}\` {#${operation.operationId}}

${[operation.summary, operation.description].filter(Boolean).join('. ').replace(/\.$/, '')}.

${details.map((detail) => `- ${detail}`).join('\n')}
${renderParameterTable(operation)}`;
}

const describeResponses = ({ responses }: Operation): string[] =>
  Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, { description, content = {} }]) => {
      const shapes = Object.values(content).map(({ schema }) => describeSchema(schema));
      return `Response ${status}: ${description}${shapes.length === 0 ? '' : ` ${shapes.join(' or ')}.`}`;
    });

function renderParameterTable({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: location, required, schema, description = '' }) =>
      `| \`${name}\` | ${location}${required ? ', required' : ''} | ${escapeCell(describeSchema(schema))} | ${escapeCell(description)} |`,
  );
  return `\n| Parameter | In | Value | Meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function renderSchema(name: string, schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf ?? [schema];
  const shapes = choices.map((choice) =>
    choice.properties ? renderFieldTable(choice) : describeSchema(choice),
  );
  return `### ${name} {#${getSchemaAnchor(name)}}\n\n${schema.description ?? ''}\n\n${shapes.join('\n\nor\n\n')}\n`;
}
