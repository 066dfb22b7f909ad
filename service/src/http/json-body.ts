import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problem.ts';
import { findUnstorableText, isDeeper, mayBeDeeper, mayBeUnstorable } from './unstorable-text.ts';

/** The schemas nest 8 levels deep at most. Deeper bodies could overflow the stack when they are stored as JSON. */
const mostLevels = 32;

/** Reads bodies as JSON. Beacons come as text/plain, because that spares a page the preflight. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'text/plain'],
    { parseAs: 'string' },
    async (_request: unknown, text: string) => parseJson(text),
  );
}

/**
 * Reads a body.
 *
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored and for
 *   nesting of more than {@link mostLevels} levels.
 */
export function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  // Check the depth first: the pointer into a body of 30,000 levels would be as long as the body.
  if (mayBeDeeper(text, mostLevels) && isDeeper(body, mostLevels))
    throw new ProblemError(
      'invalid_request',
      `The body nests objects and arrays more than ${mostLevels} levels deep; send a flatter one.`,
    );
  const pointer = mayBeUnstorable(text) ? findUnstorableText(body) : undefined;
  if (pointer !== undefined) {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer, message: 'holds a character that is not allowed in text' }],
    });
  }
  return body;
}
