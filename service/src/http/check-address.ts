import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problem.ts';
import { findUnstorableText } from './unstorable-text.ts';

/** Refuses addresses with text that the database cannot hold, as `%00`, before they come near it. */
export function addAddressCheck(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query }) => {
    if (findUnstorableText(params) !== undefined)
      throw new ProblemError('not_found', 'There is nothing at this address.');
    const pointer = findUnstorableText(query);
    if (pointer === undefined) return;
    throw new ProblemError('invalid_request', 'The querystring is not valid.', {
      errors: [{ pointer, message: 'holds a character that is not allowed in text' }],
    });
  });
}
