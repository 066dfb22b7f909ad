import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import { type IdKind, idPrefixes } from '@trueward/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from './problem.ts';

/** The query parameters of every list endpoint. */
export interface PageQuery {
  limit: number;
  starting_after?: string;
}

export const pageQuerySchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    starting_after: {
      type: 'string',
      maxLength: 64,
      description: 'The `next_cursor` of the previous page.',
    },
  },
} as const;

/** Converts the query parameters to the form that stores expect. */
export const toCursor = ({ limit, starting_after: startingAfter }: PageQuery) => ({
  limit,
  ...(startingAfter === undefined ? {} : { startingAfter }),
});

/** Builds the response schema for one page of documents. */
export const pageSchema = (schema: string) => ({
  description: 'One page.',
  type: 'object',
  additionalProperties: false,
  required: ['data', 'has_more'],
  properties: {
    data: { type: 'array', items: { $ref: `${schema}#` } },
    has_more: { type: 'boolean' },
    next_cursor: { type: 'string' },
  },
});

/**
 * Describes the `id` path parameter for OpenAPI. The format is not validated: a malformed id results in a 404, like an
 * unknown one.
 */
export const idParams = (kind: IdKind) => ({
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: `\`${idPrefixes[kind]}_…\`` } },
});

const idempotencyKey = {
  type: 'string',
  description:
    'A unique value of your choice. A retry with the same value returns the first response.',
};
const ifMatch = { type: 'string', description: 'The `ETag` of the version to update.' };

/** The headers of create requests and actions. */
export const writeHeaders = {
  type: 'object',
  properties: { 'idempotency-key': idempotencyKey },
} as const;

/** The headers of requests that change an existing object. */
export const changeHeaders = {
  type: 'object',
  properties: { 'idempotency-key': idempotencyKey, 'if-match': ifMatch },
} as const;

export const noContent = (description: string) => ({ 204: { description, type: 'null' } });

export const notFound = (schema: string, id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${schema} ${id.slice(0, 64)} in this environment.`);

/** Rejects a request if its client sends too many. Anyone can request the documentation. */
type LimitRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Adds `/openapi.json`, which describes every route that is added afterward. Named schemas become components. */
export async function addOpenApi(app: FastifyInstance, limit: LimitRequest): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Trueward ad service',
        version: '1',
        description: 'Ad decisions, events, rewards and their webhooks.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      components: {
        securitySchemes: {
          publishableKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`pk_sandbox_…` or `pk_live_…`',
          },
          secretKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`sk_sandbox_…` or `sk_live_…`; on a server only',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) =>
        typeof schema['$id'] === 'string' ? schema['$id'] : `def-${index}`,
    },
    transform: ({ schema, url, route }) => {
      const keys = route.config?.keys;
      return {
        url,
        schema: {
          ...schema,
          security: (keys ?? []).map((kind) => ({
            [kind === 'pk' ? 'publishableKey' : 'secretKey']: [],
          })),
          response: {
            ...(schema?.response as object | undefined),
            default: {
              description: 'The request failed.',
              content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
            },
          },
        },
      };
    },
  });
  let text: string | undefined;
  app.get(
    '/openapi.json',
    { schema: { hide: true }, onRequest: limit },
    async (_request, reply) => {
      text ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').serializer(String).send(text);
    },
  );
}

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string }[];
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}
interface Document {
  info: { title: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { description?: string }> };
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
section{border-top:1px solid #8886;padding:1rem 0}
h3{font:600 1rem ui-monospace,monospace;margin:0}
td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0}
pre{overflow:auto;background:#8882;padding:1rem;border-radius:.5rem;font-size:.85rem}
summary{cursor:pointer}`;

const docsPolicy = `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** Adds `/docs`, an API reference rendered from the OpenAPI document. It needs no scripts or external resources. */
export function addDocs(app: FastifyInstance, limit: LimitRequest): void {
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
    Object.entries(methods).map(([method, operation]) => renderSection(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3><p>${escapeHtml(schema.description ?? '')}</p>
<details><summary>Schema</summary><pre>${formatLinked(schema)}</pre></details></section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(info.title)}</title><style>${style}</style>
<h1>${escapeHtml(info.title)}</h1><p>${escapeHtml(info.description)} Machine-readable: <a href="/openapi.json">openapi.json</a>.</p>
<h2>Operations</h2>${operations.join('\n')}<h2>Schemas</h2>${schemas.join('\n')}</html>`;
}

function renderSection(method: string, path: string, operation: Operation): string {
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
      `<tr><td><code>${escapeHtml(parameter.name)}</code><td>${parameter.in}${parameter.required === true ? ', required' : ''}<td>${escapeHtml(parameter.description ?? '')}`,
  );
  const body = operation.requestBody?.content['application/json']?.schema;
  const responses = Object.entries(operation.responses).map(
    ([status, { description: text, content = {} }]) =>
      `<tr><td>${escapeHtml(status)}<td>${escapeHtml(text)}<td>${Object.values(content)
        .map(({ schema }) => formatLinked(schema))
        .join(' or ')}`,
  );
  return `<section id="${escapeHtml(operationId)}"><h3>${method.toUpperCase()} ${escapeHtml(path)}</h3>
<p>${escapeHtml([summary, description].filter((text) => text !== '').join('. '))}</p>
<p>Keys: ${keys.length === 0 ? 'none' : keys.join(' or ')}</p>
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${body === undefined ? '' : `<p>Body: ${formatLinked(body)}</p>`}<table>${responses.join('')}</table></section>`;
}

/** Formats a schema as JSON, with links for references. */
const formatLinked = (schema: object): string =>
  escapeHtml(
    '$ref' in schema ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2),
  ).replaceAll(
    /\{?&quot;\$ref&quot;:\s*&quot;#\/components\/schemas\/(\w+)&quot;\}?/g,
    '<a href="#schema-$1">$1</a>',
  );

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
