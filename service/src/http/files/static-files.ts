import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.ts';

/** Options of `@fastify/static` for routes of our own, which set their headers with `setHeaders`. */
export const fileOptions = {
  serve: false,
  cacheControl: false,
  dotfiles: 'ignore',
  index: false,
  // A folder may appear later: uploads make theirs.
  suppressWarning: true,
} as const;

/** What an answer says about the file that it carries. */
const fileHeaders = [
  'accept-ranges',
  'cache-control',
  'content-encoding',
  'content-range',
  'etag',
  'last-modified',
];

/**
 * Answers what `@fastify/static` refuses: a path that leaves the folder like a file that does not
 * exist, and a condition or range that does not hold with its status alone, as a player expects.
 */
export function answerFileError(
  error: Error & { statusCode?: number; headers?: Record<string, string> },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { statusCode = 500, headers = {} } = error;
  if (statusCode === 400 || statusCode === 403)
    throw new ProblemError('not_found', 'There is no such file.');
  if (statusCode !== 412 && statusCode !== 416) {
    // A file that could not be read may be readable a second later: caches must not keep the answer as that file.
    for (const name of fileHeaders) void reply.removeHeader(name);
    throw error;
  }
  void reply.code(statusCode).headers(headers).send();
}
