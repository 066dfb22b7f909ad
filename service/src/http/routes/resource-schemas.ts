import { ProblemError } from '../problem.ts';

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

export const notFound = (schema: string, id: string): ProblemError =>
  new ProblemError('not_found', `There is no ${schema} ${id.slice(0, 64)} here.`);
