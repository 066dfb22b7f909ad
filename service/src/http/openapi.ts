import swagger from '@fastify/swagger';
import { idPattern, type IdKind, idPrefixes } from '@trueward/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from './problem.ts';

/** The query parameters of every list endpoint. */
export interface PageQuery {
  limit: number;
  starting_after?: string;
}

/** The version of a wallet's entry: a number that JSON can represent. */
export const versionPattern = '^[1-9][0-9]{0,15}$';

/** The form of the cursors of a list: its ids, or the versions of its entries. */
type CursorKind = IdKind | 'version';

/**
 * Builds the schema of a list's query parameters. A cursor that the list can't have returned is refused: the page after
 * it would be empty or the first one, and its reader would take that for the rest of the list.
 */
export const pageQuerySchema = <Filters extends object>(cursor: CursorKind, filters?: Filters) => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    starting_after: {
      type: 'string',
      maxLength: 64,
      pattern: cursor === 'version' ? versionPattern : idPattern(cursor),
      description: 'The `next_cursor` of the previous page.',
    },
    ...filters,
  },
});

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
