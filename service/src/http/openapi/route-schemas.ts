import { idPrefixes, type IdKind } from '@trueward/protocol';
import { ProblemError } from '../problems/problem.ts';

/** The query of every list. */
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
      description: 'The `next_cursor` of the page before.',
    },
  },
} as const;

/** What of the query a store takes. */
export const toCursor = ({ limit, starting_after: startingAfter }: PageQuery) => ({
  limit,
  ...(startingAfter === undefined ? {} : { startingAfter }),
});

/** A page of documents of the named schema. */
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

/** The id in an address, as OpenAPI shows it; what is no id simply names nothing. */
export const idParams = (kind: IdKind) => ({
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', description: `\`${idPrefixes[kind]}_…\`` } },
});

const idempotencyKey = {
  type: 'string',
  description: 'Any text of your own: a repetition with the same one gets the first answer again.',
};
const ifMatch = { type: 'string', description: 'The `ETag` that the change is meant for.' };

/** The headers of a write. */
export const writeHeaders = {
  type: 'object',
  properties: { 'idempotency-key': idempotencyKey },
} as const;

/** The headers of a change to what exists. */
export const changeHeaders = {
  type: 'object',
  properties: { 'idempotency-key': idempotencyKey, 'if-match': ifMatch },
} as const;

export const nothing = (description: string) => ({ 204: { description, type: 'null' } });

export const notFound = (schema: string, id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${schema} ${id.slice(0, 64)} here.`);
