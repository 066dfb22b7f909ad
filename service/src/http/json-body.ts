import type { FastifyInstance } from 'fastify';
import { ProblemError } from './problem.ts';
import { findUnstorableText, mayBeUnstorable } from './unstorable-text.ts';

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
 * @throws ProblemError `malformed_json`, or `invalid_request` for text that cannot be stored.
 */
export function parseJson(text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ProblemError('malformed_json', 'The body is not valid JSON.');
  }
  const pointer = mayBeUnstorable(text) ? findUnstorableText(body) : undefined;
  if (pointer !== undefined) {
    throw new ProblemError('invalid_request', 'The body is not valid.', {
      errors: [{ pointer, message: 'holds a character that is not allowed in text' }],
    });
  }
  return body;
}
