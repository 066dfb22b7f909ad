import { type IdKind, idPrefixes } from '@trueward/protocol';
import { ProblemError } from '../problems/problem.ts';

/** The query parameters of every list. */
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

/** Builds the response schema for a page of documents. */
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
 * Describes the id in a path for OpenAPI. The format is not validated: a malformed id results in a 404, like an unknown
 * one.
 */
export const idParams = (kind: IdKind) => ({
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: `\`${idPrefixes[kind]}_…\`` } },
});

const idempotencyKey = {
  type: 'string',
  description:
    'A unique value of your choice. A retry with the same value returns the first response again.',
};
const ifMatch = { type: 'string', description: 'The `ETag` of the version to change.' };

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
