import { createHash } from 'node:crypto';
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}
interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  minItems?: number;
  pattern?: string;
  format?: string;
  description?: string;
}
interface Document {
  info: { title: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const style = `:root{color-scheme:light dark;background:Canvas;color:CanvasText;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
section{border-top:1px solid #8886;padding:1rem 0}
h3{font:600 1rem ui-monospace,monospace;margin:0}
td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8882;padding:1rem;border-radius:.5rem;font-size:.85rem}
summary{cursor:pointer}`;

const docsPolicy = `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** Adds `/docs`, an API reference rendered from the OpenAPI document. It needs no scripts or external resources. */
export function addDocs(app: FastifyInstance, limit: onRequestAsyncHookHandler): void {
  let page: string | undefined;
  app.get('/docs', { schema: { hide: true }, onRequest: limit }, async (_request, reply) => {
    page ??= renderPage(app.swagger() as unknown as Document);
    return reply
      .headers({
        'content-security-policy': docsPolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .serializer(String)
      .send(page);
  });
}

function renderPage({ info, paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      renderSection(method, path, operation, components.schemas),
    ),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3><p>${formatText(schema.description ?? '')}</p>
<details><summary>Schema</summary><pre>${formatLinked(schema)}</pre></details></section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)}</title><style>${style}</style>
<main><h1>${escapeHtml(info.title)}</h1><p>${formatText(info.description)} Machine-readable: <a href="/openapi.json">openapi.json</a>.</p>
<nav aria-label="Contents"><h2>Contents</h2>${renderContents(paths)}<p><a href="#schemas">Schemas</a></p></nav>
<h2>Operations</h2>${operations.join('\n')}<h2 id="schemas">Schemas</h2>${schemas.join('\n')}</main></html>`;
}

/** Lists the operations by the first part of their paths, such as `placements`. */
function renderContents(paths: Document['paths']): string {
  const groupOf = (path: string) => /^\/v1\/([^/]+)/.exec(path)?.[1] ?? 'other';
  const entries = Object.entries(paths);
  return [...new Set(entries.map(([path]) => groupOf(path)))]
    .map((name) => {
      const links = entries
        .filter(([path]) => groupOf(path) === name)
        .flatMap(([path, methods]) =>
          Object.entries(methods).map(
            ([method, { operationId = '', summary = '' }]) =>
              `<li><a href="#${escapeHtml(operationId)}"><code>${method.toUpperCase()} ${escapeHtml(path)}</code></a> ${formatText(summary)}`,
          ),
        );
      return `<details><summary>${escapeHtml(name)}</summary><ul>${links.join('')}</ul></details>`;
    })
    .join('');
}

function renderSection(
  method: string,
  path: string,
  operation: Operation,
  schemas: Document['components']['schemas'],
): string {
  const {
    operationId = '',
    summary = '',
    description = '',
    security = [],
    parameters = [],
  } = operation;
  const keys = security.flatMap((requirement) => Object.keys(requirement));
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code><td>${parameter.in}${parameter.required === true ? ', required' : ''}<td>${formatText(parameter.description ?? '')}`,
  );
  const body = operation.requestBody?.content['application/json']?.schema;
  const responses = Object.entries(operation.responses).map(
    ([status, { description: text, content = {} }]) =>
      `<tr><td>${escapeHtml(status)}<td>${formatText(text)}<td>${Object.values(content)
        .map(({ schema }) => formatLinked(schema))
        .join(' or ')}`,
  );
  return `<section id="${escapeHtml(operationId)}"><h3>${method.toUpperCase()} ${escapeHtml(path)}</h3>
<p>${formatText([summary, description].filter((text) => text !== '').join('. '))}</p>
<p>Keys: ${keys.length === 0 ? 'none' : keys.join(' or ')}</p>
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${body === undefined ? '' : `<p>Body: ${formatLinked(body)}</p>`}<table>${responses.join('')}</table>
<details><summary>Example</summary><pre>${escapeHtml(writeExample(method, path, operation, schemas))}</pre></details></section>`;
}

/** Writes a request with curl. Its body has the members that are required. */
function writeExample(
  method: string,
  path: string,
  { security = [], requestBody }: Operation,
  schemas: Document['components']['schemas'],
): string {
  const body = requestBody?.content['application/json']?.schema;
  const [key] = security.flatMap((requirement) => Object.keys(requirement));
  const parts = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$SERVICE_URL${path}"`,
    ...(key === undefined
      ? []
      : [`-H "Authorization: Bearer $${key === 'publishableKey' ? 'PUBLISHABLE' : 'SECRET'}_KEY"`]),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(makeSample(body, schemas), undefined, 2).replaceAll("'", '’')}'`,
        ]),
  ];
  return parts.join(' \\\n  ');
}

/** Makes a value that shows a schema's shape: the required members, and the first of several choices. */
function makeSample(
  schema: Schema,
  schemas: Document['components']['schemas'],
  depth = 0,
): unknown {
  const target = schema.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (!target || depth > 6) return {};
  const sample = (inner: Schema) => makeSample(inner, schemas, depth + 1);
  const [choice] = target.anyOf ?? target.oneOf ?? [];
  if (target.const !== undefined) return target.const;
  if (target.enum) return target.enum[0];
  if (choice) return sample(choice);
  if (target.properties) {
    const { properties, required = [] } = target;
    return Object.fromEntries(
      required.flatMap((name) => (properties[name] ? [[name, sample(properties[name])]] : [])),
    );
  }
  const [type = 'object'] = [target.type ?? []].flat();
  if (type === 'array')
    return target.items && (target.minItems ?? 0) > 0 ? [sample(target.items)] : [];
  if (type === 'integer' || type === 'number') return target.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type !== 'string') return {};
  const samples: Record<string, string> = {
    'date-time': '2027-01-01T00:00:00Z',
    uri: 'https://game.example/',
    hostname: 'game.example',
  };
  return samples[target.format ?? ''] ?? '…';
}

/** Formats a schema as JSON, with links for references. */
const formatLinked = (schema: object): string =>
  escapeHtml(
    '$ref' in schema ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2),
  ).replaceAll(
    /\{?&quot;\$ref&quot;:\s*&quot;#\/components\/schemas\/(\w+)&quot;\}?/g,
    '<a href="#schema-$1">$1</a>',
  );

/** Formats a description, in which code is between backticks. */
const formatText = (text: string): string =>
  escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
